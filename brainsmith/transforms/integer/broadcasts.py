"""Broadcasts: tensors repeated along axes in which they have one place, as ONNX repeats them beside larger ones."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from brainsmith.transforms.integer.image_layers import ImageLayers
from brainsmith.transforms.integer.no_layer import NoLayerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layouts import Layouts, Value


class Broadcasts:
    """Adds layers that repeat values.

    Args:
        build: Where layers are added.
        layouts: Moves tensors.
    """

    def __init__(self, build: LayerBuilder, layouts: Layouts) -> None:
        self._layouts = layouts
        self._images = ImageLayers(build)

    def alike(self, values: Sequence[Any], base: str) -> list[Any]:
        """Return tensors in one shape, each repeated where the others are larger.

        Raises:
            NoLayerError: They have no shape in common.
        """
        if len({value.shape for value in values}) == 1:
            return list(values)
        rank = max(len(value.shape) for value in values)
        shapes = [(1,) * (rank - len(value.shape)) + tuple(value.shape) for value in values]
        shape = tuple(max(sizes) for sizes in zip(*shapes, strict=True))
        return [self.repeated(value, shape, f"{base}_{at}") for at, value in enumerate(values)]

    def repeated(self, value: Value, shape: Sequence[int], base: str) -> Value:
        """Return a tensor in a shape.

        Raises:
            NoLayerError: It has more than one place along an axis that is to be larger, or there are too many axes.
        """
        shape = tuple(shape)
        if value.shape == shape:
            return value
        value = self._layouts.reshaped(value, (1,) * (len(shape) - len(value.shape)) + value.shape, base)
        if len(shape) > 4 or any(old not in (1, new) for old, new in zip(value.shape, shape, strict=True)):
            raise NoLayerError(
                f"values of the shape {list(value.shape)} cannot be repeated to the shape {list(shape)}",
                "bring them to one shape before it",
            )
        channels = 1 if len(shape) == 4 else len(shape) - 1
        for axis in sorted(range(len(shape)), key=lambda axis: axis == channels):
            if value.shape[axis] < shape[axis]:
                again = self._channel if axis == channels else self._place
                value = again(value, axis, shape[axis], f"{base}_{axis}")
        return value

    def _channel(self, value: Value, axis: int, count: int, base: str) -> Value:
        """Return a tensor of one channel with more of them: its values are pixels, each of which is repeated."""
        others = [each for each in range(len(value.shape)) if each != axis]
        sizes = [value.shape[each] for each in others]
        last = self._layouts.transposed(value, [*others, axis], base)
        row = self._layouts.settled(self._layouts.reshaped(last, (1, 1, prod(sizes), 1), base), base)
        wide = self._layouts.reshaped(self._images.enlarged(row, [1, count], base), (*sizes, count), base)
        order = [others.index(each) if each != axis else len(others) for each in range(len(value.shape))]
        return self._layouts.transposed(wide, order, base)

    def _place(self, value: Value, axis: int, count: int, base: str) -> Value:
        """Return a tensor repeated along an axis that is not the channels'."""
        rank = len(value.shape)
        if rank == 4 and axis > 1:
            image = self._layouts.settled(value, base)
            return self._images.enlarged(image, [count if axis == each else 1 for each in (2, 3)], base)
        before, behind = value.shape[:axis], value.shape[axis + 1 : -1]
        if rank == 4 or (prod(before) > 1 and prod(behind) > 1):
            raise NoLayerError(
                f"values of the shape {list(value.shape)} are repeated along axis {axis}, which is not the height, the "
                "width or the channels",
                "bring it to its shape before it",
            )
        channels, places = value.shape[-1], prod(before) * prod(behind)
        sizes = (places, 1) if prod(behind) == 1 else (1, places)
        rows = self._layouts.transposed(
            self._layouts.reshaped(value, (*sizes, channels), base), (2, 0, 1), base
        )
        image = self._layouts.settled(self._layouts.reshaped(rows, (1, channels, *sizes), base), base)
        times = [1, count] if prod(behind) == 1 else [count, 1]
        wide = self._images.enlarged(image, times, base)
        moved = self._layouts.transposed(wide, (0, 2, 3, 1), base)
        return self._layouts.reshaped(moved, (*before, count, *behind, channels), base)
