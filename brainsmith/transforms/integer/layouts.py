"""Layouts: bring moved tensors into the layout in which layers compute, channels last."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.transforms.integer.channel_groups import regrouped
from brainsmith.transforms.integer.integer_tensor import ORDERS, IntegerTensor, multiples
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.scaled_sum import ScaledSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.integer.axis_layout import AxisLayout
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.sums_of_scales import SumsOfScales


Value = IntegerTensor | MovedTensor | ScaledSum


class Layouts:
    """Moves tensors, with a Transpose where their values have to move in memory.

    Args:
        build: Where layers are added.
        sums: Gives sums of several scales one scale.
    """

    def __init__(self, build: LayerBuilder, sums: SumsOfScales) -> None:
        self._build = build
        self._sums = sums
        self._graph = build.graph
        self._placed: dict[tuple[Any, ...], str] = {}

    def moved(self, value: Value, base: str) -> MovedTensor:
        """Return a tensor as one that can be moved.

        Raises:
            NoLayerError: Its entries are in another order since an image became a row.
        """
        if isinstance(value, MovedTensor):
            return value
        if isinstance(value, IntegerTensor) and value.is_tabled:
            value = self._build.integers(value, base)
        chain = value.chain if isinstance(value, ScaledSum) else value
        if chain.order is not None:
            raise NoLayerError(
                "it moves entries of a flattened image, which the circuit has in another order (channels last)",
                "move them before the image is flattened",
            )
        return MovedTensor.of(value)

    def reshaped(self, value: Value, shape: Sequence[int], base: str) -> Value:
        """Return a tensor in another shape, or as it is in its own."""
        if value.shape == tuple(shape):
            return value
        moved = self.moved(value, base)
        layout = moved.layout.reshaped(shape)
        if layout is None:  # sizes without parts in common: the values are put into a row, in their order
            row = self.settled(self._row(moved), base, in_order=True)
            layout = MovedTensor.of(row).layout.reshaped(shape)
            assert layout is not None
            moved = MovedTensor.of(row)
        return replace(moved, layout=layout)

    def transposed(self, value: Value, order: Sequence[int], base: str) -> MovedTensor:
        """Return a tensor with its axes in another order."""
        moved = self.moved(value, base)
        return replace(moved, layout=moved.layout.transposed(order))

    def rows(self, value: Value, base: str) -> IntegerTensor:
        """Return the rows along the last axis, as layers compute with them: (how many, entries of one)."""
        if isinstance(value, IntegerTensor) and len(value.shape) < 4:
            return value
        if isinstance(value, MovedTensor) and len(value.shape) == 2:
            return self.settled(value, base)
        shape = value.shape
        return self.settled(self.reshaped(value, (int(np.prod(shape[:-1])), shape[-1]), base), base)

    def image(self, value: Value, base: str) -> IntegerTensor:
        """Return an image, as layers compute with it; one of a single dimension has the width 1."""
        return self.settled(self.of_width_one(value, base) if len(value.shape) == 3 else value, base)

    def of_width_one(self, value: Value, base: str) -> Value:
        """Return an image of one dimension as one of two."""
        return self.reshaped(value, (*value.shape, 1), base)

    def _row(self, moved: MovedTensor) -> MovedTensor:
        layout = moved.layout.reshaped((1, int(np.prod(moved.shape))))
        assert layout is not None
        return replace(moved, layout=layout)

    def settled(self, value: Value, base: str, in_order: bool = False) -> IntegerTensor:
        """Return a tensor as layers compute with it: rows, or an image, with channels last.

        Args:
            value: It.
            base: Of the layers' names.
            in_order: The entries of one row are in the network's order; else they stay as they are, and products have
                their weights in that order.

        Raises:
            NoLayerError: It has more than four axes, or the scales of its channels are different and on several axes.
        """
        if isinstance(value, ScaledSum):
            value = self._sums.of_one_scale(value, base)
        if isinstance(value, IntegerTensor):
            return self._in_order(value) if in_order else value
        if isinstance(value.base, ScaledSum):
            value = replace(value, base=self._sums.of_one_scale(value.base, base))
        shape = value.shape
        if len(shape) not in ORDERS or len(shape) < 2:
            raise NoLayerError(
                f"its input has the shape {list(shape)}: layers take rows or images, of 2 to 4 axes",
                "add a Reshape before it",
            )
        axis = -3 if len(shape) == 4 else -1
        tensor = value.base
        assert isinstance(tensor, IntegerTensor)
        if tensor.is_tabled:
            tensor = self._build.integers(tensor, base)
        if tensor.told_apart > 1 and value.channels(axis) is None:
            tensor = self.of_one_scale(tensor, base)
        index = value.channels(axis) if tensor.told_apart > 1 else np.zeros(1, np.int64)
        assert index is not None
        order = ORDERS[len(shape)]
        if len(shape) == 2 and shape[0] == 1 and not in_order:
            places = value.layout.places()
            same = np.array_equal(places, np.arange(len(places)))
            name, kept = tensor.name, None if same else places
        else:
            name, kept = self._transposed(tensor, value.layout, value.layout.order(order), base), None
        placed = tuple(shape[each] for each in order)
        if self._shape(name, tensor) != placed:
            to = np.asarray(placed, np.int64)
            name = self._once("Reshape", name, base, placed, tensor.range, constant=to)
        return regrouped(tensor, index, axis, name=name, shape=shape, order=kept)

    def _in_order(self, value: IntegerTensor) -> IntegerTensor:
        if value.order is not None:
            raise NoLayerError(
                "one of its operands is a flattened image, which the circuit has in another order (channels last)",
                "use the images before they are flattened",
            )
        return value

    def _shape(self, name: str, tensor: IntegerTensor) -> tuple[int, ...]:
        """Return the shape that a tensor has among the layers; an input has that of the network."""
        known = self._graph.tensors.get(name)
        return tensor.shape if known is None else known.shape

    def _transposed(self, tensor: IntegerTensor, layout: AxisLayout, order: list[int], base: str) -> str:
        """Return a tensor whose atoms lie in another order."""
        if order == sorted(order):
            return tensor.name
        name, ends = tensor.name, tensor.range
        shape = self._shape(name, tensor)
        wide = [axis for axis, size in enumerate(shape) if size > 1]
        if tuple(shape[axis] for axis in wide) != layout.sizes:
            shape = (1, *layout.sizes)
            wide = list(range(1, len(shape)))
            to = np.asarray(shape, np.int64)
            name = self._once("Reshape", name, f"{base}_axes", shape, ends, constant=to)
        perm = [axis for axis in range(len(shape)) if axis not in wide] + [wide[atom] for atom in order]
        moved = tuple(shape[axis] for axis in perm)
        return self._once("Transpose", name, f"{base}_moved", moved, ends, perm=perm)

    def _once(
        self, op_type: str, source: str, base: str, shape: tuple[int, ...], *ends: Any, **stated: Any
    ) -> str:
        """Add a layer that moves values, unless one moves the same values so: several may read what it gives."""
        key = (op_type, source, shape, *stated.get("perm", ()))
        if key not in self._placed:
            self._placed[key] = self._graph.add(op_type, [source], base, shape, *ends, **stated)
        return self._placed[key]

    def of_one_scale(self, tensor: IntegerTensor, base: str) -> IntegerTensor:
        """Return a tensor all of whose channels have one scale and one offset, without pending operators.

        Raises:
            NoLayerError: They have no common unit.
        """
        tensor = self._build.integers(tensor, base)
        found = multiples(np.concatenate([tensor.scale, tensor.offset - tensor.offset[0]]))
        if found is None:
            raise NoLayerError(
                "the scales, or offsets, of the channels that it moves have no common unit",
                "quantise with one scale for all channels before it",
            )
        unit, whole = found
        times, added = np.split(whole, [tensor.scale.size])
        tensor = replace(self._build.scaled(tensor, times, f"{base}_scaled"), scale=np.asarray([unit]))
        tensor = self._build.shifted(tensor, added, f"{base}_shifted")
        return replace(tensor, range=tensor.range.of_all(), offset=tensor.offset[:1])
