"""Moving values: they stay what they are."""

from __future__ import annotations

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.figures import plural
from brainsmith.graph.array_types import Array, Shape


@instruction
def same(values: Array) -> Array:
    """Return what is given."""
    return values


@instruction
def reshape(values: Array, *, shape: Shape) -> Array:
    """Give each run of a stack another shape."""
    return values.reshape(len(values), *shape)


@instruction
def transpose(values: Array, *, order: Shape) -> Array:
    """Reorder the axes of each run of a stack."""
    return values.transpose(0, *(axis + 1 for axis in order))


@instruction
def cast(values: Array, *, dtype: str) -> Array:
    """Give values another type of NumPy's; to whole numbers towards 0."""
    with np.errstate(invalid="ignore"):
        return values.astype(dtype, copy=False)


@instruction
def concatenate(*values: Array, shapes: tuple[Shape | None, ...], axis: int) -> Array:
    """Join tensors on an axis of a run.

    Args:
        *values: Stacks and constants.
        shapes: None for a stack; for a constant its shape, which each run then has.
        axis: 0 is the first of a run.
    """
    runs = next(len(array) for array, shape in zip(values, shapes, strict=True) if shape is None)
    stacks = [
        array if shape is None else np.broadcast_to(array, (runs, *shape))
        for array, shape in zip(values, shapes, strict=True)
    ]
    return np.concatenate(stacks, axis=axis + 1)


@instruction
def split(values: Array, *, sizes: Shape, axis: int) -> tuple[Array, ...]:
    """Cut a stack into parts along an axis of a run."""
    ends = np.cumsum(sizes)[:-1]
    return tuple(np.split(values, ends, axis=axis + 1))


@instruction
def slices(values: Array, *, starts: Shape, ends: tuple[int | None, ...], steps: Shape) -> Array:
    """Cut each run of a stack, with a start, end and step for each axis."""
    return values[(slice(None), *map(slice, starts, ends, steps))]


@instruction
def pad(values: Array, *, before: Shape, after: Shape, fill: float, mode: str) -> Array:
    """Surround each run of a stack: with a value, with itself mirrored (`reflect`), or with its edge (`edge`)."""
    widths = [(0, 0), *zip(before, after, strict=True)]
    if mode != "constant":
        return np.pad(values, widths, mode=mode)  # type: ignore[call-overload,no-any-return]
    shape = tuple(size + low + high for size, (low, high) in zip(values.shape, widths, strict=True))
    result = np.full(shape, fill, values.dtype)
    result[tuple(slice(w[0], w[0] + n) for n, w in zip(values.shape, widths, strict=True))] = values
    return result


@instruction
def take(values: Array, indices: Array, *, axis: int) -> Array:
    """Take constant indices along an axis of each run."""
    return np.take(values, indices, axis=axis + 1)


@instruction
def look_up(table: Array, indices: Array, *, axis: int) -> Array:
    """Take indices that vary along an axis of a constant; the runs come first."""
    wrapped = np.where(indices < 0, indices + table.shape[axis], indices).astype(np.intp)
    if wrapped.size and not (wrapped.min() >= 0 and wrapped.max() < table.shape[axis]):
        raise IndexError(f"an index is outside of the {plural(table.shape[axis], 'entry', 'entries')}")
    found = np.take(table, wrapped, axis=axis)
    return np.moveaxis(found, axis, 0)


@instruction
def tile(values: Array, *, repeats: Shape) -> Array:
    """Repeat each run of a stack along its axes."""
    return np.tile(values, (1, *repeats))


@instruction
def enlarge(values: Array, *, factors: Shape) -> Array:
    """Repeat each entry of a run so often along its axes."""
    runs, *shape = values.shape
    apart = values.reshape(runs, *(size for one in shape for size in (one, 1)))
    repeated = [size for pair in zip(shape, factors, strict=True) for size in pair]
    wanted = [size * factor for size, factor in zip(shape, factors, strict=True)]
    return np.broadcast_to(apart, (runs, *repeated)).reshape(runs, *wanted)
