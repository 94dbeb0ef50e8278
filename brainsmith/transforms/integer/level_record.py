"""LevelRecord: which tensor of the integer layers holds a quantiser's levels; kept in the model, for its verification."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.integer.axis_layout import AxisLayout
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Whole

KEY = "brainsmith.integer_levels"
"""Of the note in the model's `metadata_props`."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LevelRecord:
    """Integers of a layer, and what makes the network's values of them: `scale * n + offset`.

    Attributes:
        layer: The tensor among the integer layers.
        scale: One, or one for each channel in the network's order.
        offset: Likewise.
        image: Whether it has height and width; its channels are last among the layers, and second in the network.
        order: Entry j of a row among the layers is entry `order[j]` in the network; empty where the orders are the same.
        factor: By which the layer multiplies the integers, one or one for each of its channels; 0 where they are lost.
        split: The shape in which the network's axes are split, before a transpose; empty where nothing moves.
        axes: The order of these axes after the transpose.
        shape: The shape after it, which is empty for one number without axes; None where nothing moves.
        is_near: As of an IntegerTensor: where rounding decides a level, it may be another one than the exact sum gives.
    """

    layer: str
    scale: tuple[float, ...]
    offset: tuple[float, ...]
    image: bool
    order: tuple[int, ...] = ()
    factor: tuple[int, ...] = (1,)
    split: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()
    shape: tuple[int, ...] | None = None
    is_near: bool = False

    @classmethod
    def of(
        cls, tensor: IntegerTensor, layer: str, factor: Whole, layout: AxisLayout | None = None
    ) -> LevelRecord:
        """Note a tensor whose integers a layer gives, each multiplied by a factor, and which then moves."""
        order = () if tensor.order is None else tuple(map(int, tensor.order))
        scale, offset = (tuple(map(float, each)) for each in (tensor.scale, tensor.offset))
        split, axes, shape = ((), (), None) if layout is None else layout.moves()
        factors = tuple(map(int, factor))
        return cls(layer, scale, offset, tensor.is_image, order, factors, split, axes, shape, tensor.is_near)

    def values(self, numbers: Array) -> Array:
        """Return the network's values of integers (runs, *shape), in its own layout; float64, NaN where they are lost."""
        factor = np.asarray(self.factor, np.float64)
        placed = np.asarray(numbers, np.float64) / np.where(factor == 0, np.nan, factor)
        if self.image:
            placed = placed.transpose(0, 1, 4, 2, 3)
        elif self.order:
            placed = placed[..., np.argsort(self.order)]
        ones = (1, 1) if self.image else ()
        scale, offset = (np.asarray(one).reshape(-1, *ones) for one in (self.scale, self.offset))
        found = np.asarray(placed * scale + offset)
        if self.shape is None:
            return found
        split = found.reshape(len(found), *self.split)
        return split.transpose(0, *(axis + 1 for axis in self.axes)).reshape(len(found), *self.shape)


def note_levels(model: ModelWrapper, records: dict[str, LevelRecord]) -> None:
    """Write into a model where the levels of each quantiser of the network are, by the quantiser's output."""
    plain = {name: astuple(record) for name, record in records.items()}
    for old in [each for each in model.model.metadata_props if each.key == KEY]:
        model.model.metadata_props.remove(old)
    model.model.metadata_props.add(key=KEY, value=json.dumps(plain, sort_keys=True))


def read_levels(model: ModelWrapper) -> dict[str, LevelRecord]:
    """Return what `note_levels` wrote; nothing of a model without it."""
    text = next((each.value for each in model.model.metadata_props if each.key == KEY), "{}")
    return {name: LevelRecord(*map(_frozen, plain)) for name, plain in json.loads(text).items()}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
