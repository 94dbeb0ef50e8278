"""Functions that move elements and compute nothing; users find them in `functional`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.primitives import gathers, movements
from brainsmith.autodiff.tape.indexing import steps_of
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.primitives.reductions import Axes


def reshape(x: Any, shape: int | Sequence[int]) -> Any:
    """Return the same elements in another shape; one axis may be -1."""
    wanted = (shape,) if isinstance(shape, int | np.integer) else shape
    return run_op(movements.RESHAPE, (x,), {"shape": tuple(int(size) for size in wanted)})


def transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    """Return the axes in another order, reversed by default."""
    return run_op(movements.TRANSPOSE, (x,), {"axes": None if axes is None else tuple(axes)})


def squeeze(x: Any, axis: Axes = None) -> Any:
    """Return x without axes of length 1: the named ones, or all."""
    wanted = tuple(at for at, size in enumerate(np.shape(x)) if size == 1) if axis is None else axis
    return run_op(movements.SQUEEZE, (x,), {"axis": wanted})


def expand_dims(x: Any, axis: int | tuple[int, ...]) -> Any:
    """Return x with new axes of length 1, which are at these places of the result."""
    return run_op(movements.EXPAND_DIMS, (x,), {"axis": axis})


def expand(x: Any, shape: Sequence[int]) -> Any:
    """Return x repeated to a shape, as broadcasting does."""
    return run_op(movements.EXPAND, (x,), {"shape": tuple(shape)})


def pad(x: Any, widths: Sequence[Sequence[int]]) -> Any:
    """Return x with zeros around it: (before, after) for each axis."""
    pairs = tuple((int(before), int(behind)) for before, behind in widths)
    return run_op(movements.PAD, (x,), {"widths": pairs})


def concat(values: Sequence[Any], axis: int = 0) -> Any:
    """Return several values one after the other along an axis."""
    return run_op(movements.concat_of(len(values)), tuple(values), {"axis": axis})


def stack(values: Sequence[Any], axis: int = 0) -> Any:
    """Return several values side by side along a new axis."""
    return concat([expand_dims(value, axis) for value in values], axis)


def gather(x: Any, indices: Any, axis: int = 0) -> Any:
    """Return elements along an axis by an array of indices."""
    return run_op(gathers.GATHER, (x, _whole(indices)), {"axis": axis})


def gather_nd(x: Any, indices: Any) -> Any:
    """Return elements by several indices at once: the last axis of the indices numbers the leading axes of x."""
    return run_op(gathers.GATHER_ND, (x, _whole(indices)))


def index(x: Any, key: Any) -> Any:
    """Return x[key]: numbers, slices, None, `...`, and arrays of integers."""
    x = x if hasattr(x, "shape") else np.asarray(x, np.float32)
    for op, more, attributes in steps_of(x.shape, key):
        x = run_op(op, (x, *more), attributes)
    return x


def _whole(indices: Any) -> Any:
    whole = indices if hasattr(indices, "dtype") else np.asarray(indices)
    if whole.dtype.kind not in "iu":
        raise OpError(f"indices must be integers, not {whole.dtype}")
    return whole
