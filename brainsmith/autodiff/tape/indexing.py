"""What `x[key]` is made of: the steps of the tape that give what numpy's indexing gives."""

from __future__ import annotations

from operator import index as as_index
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.primitives import gathers, movements
from brainsmith.errors import OpError
from brainsmith.figures import plural

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Op, Shape

Step = tuple["Op", tuple[Any, ...], dict[str, Any]]
"""An op, its inputs after the first one, and its attributes."""


def steps_of(shape: Shape, key: Any) -> list[Step]:
    """Return the steps that index an array of a shape.

    Raises:
        OpError: An index is out of range, or the key has a form that no step has.
    """
    entries = _entries(len(shape), key)
    if any(_is_array(entry) for entry in entries):
        return _array_steps(shape, entries)
    return _plain_steps(shape, entries)


def _entries(rank: int, key: Any) -> list[Any]:
    """Return the parts of a key, `...` replaced by whole axes, one for each axis; None is none of them."""
    parts = list(key) if isinstance(key, tuple) else [key]
    taken = len([part for part in parts if part is not None and part is not Ellipsis])
    if taken > rank:
        raise OpError(f"an index of {taken} parts is too long for a Tensor of {plural(rank, 'axis', 'axes')}")
    rest = [slice(None)] * (rank - taken)
    for at, part in enumerate(parts):
        if part is Ellipsis:
            return [*parts[:at], *rest, *parts[at + 1 :]]
    return [*parts, *rest]


def _is_array(entry: Any) -> bool:
    return isinstance(entry, np.ndarray | list | bool | np.bool_) or getattr(entry, "is_tape_tensor", False)


def _plain_steps(shape: Shape, entries: list[Any]) -> list[Step]:
    cuts: list[tuple[int | None, ...]] = []
    dropped: list[int] = []
    added: list[int] = []
    axis = place = 0
    for entry in entries:
        if entry is None:
            added.append(place)
            place += 1
            continue
        if isinstance(entry, slice):
            if entry != slice(None):
                cuts.append(_cut(axis, entry, shape[axis]))
            place += 1
        else:
            at = _in_range(entry, shape[axis], axis)
            cuts.append((at, at + 1, axis, 1))
            dropped.append(axis)
        axis += 1
    steps: list[Step] = []
    if cuts:
        starts, stops, axes, strides = zip(*cuts, strict=True)
        steps.append(
            (movements.SLICE, (), {"starts": starts, "stops": stops, "axes": axes, "steps": strides})
        )
    if dropped:
        steps.append((movements.SQUEEZE, (), {"axis": tuple(dropped)}))
    if added:
        steps.append((movements.EXPAND_DIMS, (), {"axis": tuple(added)}))
    return steps


def _cut(axis: int, part: slice, size: int) -> tuple[int | None, ...]:
    start, stop, step = part.indices(size)
    if step > 0:
        return start, max(stop, start), axis, step
    # Backwards, an end before the first element cannot be written as a number, which would count from the end.
    return (start, None if stop < 0 else stop, axis, step) if start >= 0 else (0, 0, axis, 1)


def _in_range(entry: Any, size: int, axis: int) -> int:
    try:
        at = as_index(entry)
    except TypeError:
        raise OpError(
            f"a Tensor is indexed by integers, slices, None, ... and arrays of integers, not by {entry!r}"
        ) from None
    if not -size <= at < size:
        raise OpError(f"index {at} is out of range for axis {axis}, of length {size}")
    return at % size


def _array_steps(shape: Shape, entries: list[Any]) -> list[Step]:
    """Return the steps for one array among whole axes and slices, or for several in front."""
    if any(entry is None for entry in entries):
        raise OpError("a Tensor is indexed by arrays or by None, not by both at once: index twice")
    chosen = [at for at, entry in enumerate(entries) if not isinstance(entry, slice)]
    if len(chosen) == 1:
        (axis,) = chosen
        whole: list[Any] = [slice(None) if at == axis else entry for at, entry in enumerate(entries)]
        found = _integers(entries[axis], shape[axis], axis)
        return [*_plain_steps(shape, whole), (gathers.GATHER, (found,), {"axis": axis})]
    if chosen != list(range(len(chosen))) or any(entry != slice(None) for entry in entries[len(chosen) :]):
        raise OpError("several arrays that index a Tensor must come first, with only whole axes after them")
    arrays = [np.asarray(_integers(entries[axis], shape[axis], axis)) for axis in chosen]
    return [(gathers.GATHER_ND, (np.stack(np.broadcast_arrays(*arrays), axis=-1),), {})]


def _integers(entry: Any, size: int, axis: int) -> Any:
    array = np.asarray(entry)
    if array.dtype.kind == "b":
        raise OpError(
            "a mask cannot index a Tensor, because the shape of the result would depend on values; "
            "use functional.where(mask, x, 0)"
        )
    if array.dtype.kind not in "iu" and array.size:
        raise OpError(f"arrays that index a Tensor must be of integers, not of {array.dtype}")
    if array.size and (array.min() < -size or array.max() >= size):
        raise OpError(f"an index of the array is out of range for axis {axis}, of length {size}")
    return entry if getattr(entry, "is_tape_tensor", False) else array.astype(np.int64)
