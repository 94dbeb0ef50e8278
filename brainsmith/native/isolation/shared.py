"""Arrays whose memory workers share: `shared_empty` and `shared_like`."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from brainsmith.errors import SharedMemoryError
from brainsmith.forks import in_children
from brainsmith.native.isolation.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from brainsmith.autodiff.op import Array


class _ProcessPool:
    """This process's: a worker maps its regions for reading alone."""

    def __init__(self) -> None:
        self.pool = Pool()
        in_children(self, _ProcessPool._start_anew)

    def _start_anew(self) -> None:
        self.pool = Pool()


_SHARED = _ProcessPool()


def shared_empty(shape: SupportsIndex | Sequence[int], dtype: DTypeLike = np.float32) -> Array:
    """Return a new array of undefined content that an isolated op reads without copying it.

    It is an ordinary array; contiguous views and slices of it are shared too. Its memory is free again when the last
    array on it is gone. A child of `os.fork` shares what existed before, and gets memory of its own for what is new.

    Args:
        shape: Its extent, or its extents.
        dtype: Of its elements: numbers.

    Raises:
        SharedMemoryError: The memory cannot be allocated, or the shape or the dtype is invalid.
    """
    extents = tuple(index(n) for n in ([shape] if isinstance(shape, SupportsIndex) else shape))
    if any(extent < 0 for extent in extents):
        raise SharedMemoryError(f"the extents of a shared array must be 0 or more, not {extents}")
    kind = np.dtype(dtype)
    if kind.kind not in "fiubc":
        raise SharedMemoryError(f"a shared array holds numbers, not {kind}")
    return _SHARED.pool.empty(extents, kind)


def shared_like(array: ArrayLike) -> Array:
    """Return a shared copy of an array.

    Raises:
        SharedMemoryError: There is no such memory, or the array holds no numbers.
    """
    given = np.asarray(array)
    copy = shared_empty(given.shape, given.dtype)
    copy[...] = given
    return copy
