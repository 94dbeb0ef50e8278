"""How values lie in a frame: as the design takes them, or as the network that was built did."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.stitching.design import Design, Layout

MOST_AXES = 5
"""Of frames whose order is searched for."""


@dataclass(frozen=True)
class FrameOrder:
    """Frames of another shape: their axes are put into an order, then they are reshaped to the design's.

    Attributes:
        shape: Of one frame as it is given, such as NCHW without N.
        axes: Which axis comes first, which next.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def moves(self) -> bool:
        """Whether any axis changes its place."""
        return self.axes != tuple(range(len(self.axes)))

    def apply(self, values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """Return (frames, *self.shape) as (frames, *shape)."""
        moved = values.transpose(0, *(axis + 1 for axis in self.axes))
        return moved.reshape(len(values), *shape)


def find_order(given: NDArray[Any], golden: NDArray[Any]) -> FrameOrder | None:
    """Tell how frames as the network takes them become those that the design took.

    Args:
        given: (frames, *shape of the network's), of which the first are the golden ones.
        golden: (frames, *shape of the design's).

    Returns:
        The order with the fewest axes moved that gives just these values; None if there is none.
    """
    shape = given.shape[1:]
    if prod(shape) != prod(golden.shape[1:]) or len(given) < len(golden) or not 1 <= len(shape) <= MOST_AXES:
        return None
    start = given[: len(golden)]
    for axes in sorted(itertools.permutations(range(len(shape))), key=_moved):
        order = FrameOrder(shape, axes)
        if np.array_equal(order.apply(start, golden.shape[1:]), golden):
            return order
    return None


def accepted_shapes(layout: Layout, order: FrameOrder | None) -> list[tuple[int, ...]]:
    """Return the shapes of one frame that `as_frames` takes."""
    shapes = [layout.shape]
    if layout.shape[0] == 1 and len(layout.shape) > 1:
        shapes.append(layout.shape[1:])
    if order is not None and order.shape not in shapes:
        shapes.append(order.shape)
    return shapes


def as_frames(values: NDArray[Any], layout: Layout, order: FrameOrder | None) -> NDArray[np.int64]:
    """Return values as the design takes them: (frames, *shape of one), whole numbers within the datatype.

    Args:
        values: (frames, *shape), in any of `accepted_shapes`: a leading axis of one in the design's shape may be
            left out. Where that gives the shape of the network's frames, they are in the network's order.
        layout: Of the design's input.
        order: How the network's own frames lie, if that is known.

    Raises:
        ValueError: The design does not take the shape, the kind of numbers or a value; says what it takes.
    """
    shapes = accepted_shapes(layout, order)
    if values.ndim < 2 or values.shape[1:] not in shapes or not len(values):
        wanted = " or ".join(str(("frames", *shape)).replace("'", "") for shape in shapes)
        raise ValueError(f"it has the shape {values.shape}, and {wanted} is expected, with one frame or more")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"it holds {values.dtype}, and whole numbers are expected")
    whole = _whole(values)
    low, high = layout.span
    if whole.min() < low or whole.max() > high:
        raise ValueError(
            f"it has values from {whole.min()} to {whole.max()}, and {value_type(layout)}, {low} to {high}, is expected"
        )
    if order is not None and values.shape[1:] == order.shape != layout.shape:
        return order.apply(whole, layout.shape)
    return whole.reshape(len(whole), *layout.shape)


def design_frames(design: Design, stacks: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.int64]]:
    """Return a design's inputs by tensor as it takes them: (frames, *shape of one), whole numbers.

    Raises:
        InputError: Values of an input do not fit.
    """
    found = {}
    for stream in design.inputs:
        name = stream.layout.tensor
        try:
            found[name] = as_frames(np.asarray(stacks[name]), stream.layout, None)
        except ValueError as error:
            raise InputError(f"input '{name}' of the accelerator does not fit: {error}") from error
    return found


def value_type(layout: Layout) -> str:
    """Return QONNX's name of a stream's datatype."""
    return "BIPOLAR" if layout.bipolar else f"{'INT' if layout.signed else 'UINT'}{layout.lane_bits}"


def stored_type(layout: Layout) -> np.dtype[Any]:
    """Return the narrowest datatype of numpy that holds a stream's values."""
    size = next(size for size in (8, 16, 32, 64) if layout.lane_bits <= size)
    return np.dtype(f"{'int' if layout.span[0] < 0 else 'uint'}{size}")


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype.kind == "f":
        wrong = np.argwhere(~(np.isfinite(values) & (values == np.floor(values))))
        if len(wrong):
            place = tuple(int(index) for index in wrong[0])
            raise ValueError(f"its value at {place} is {values[place]}, and whole numbers are expected")
    return values.astype(np.int64)


def _moved(axes: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return sum(axis != at for at, axis in enumerate(axes)), axes
