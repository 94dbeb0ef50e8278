"""One thread for the matrix products of NumPy's OpenBLAS.

Its threads wait for each other by spinning: on a processor that others use as well, two of them were six times slower
than one for the products of small layers. With one, a sum is also the same however many processors there are.
"""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.forks import in_children, lock_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Limit:
    """How many are inside, and how many threads there were before the first."""

    def __init__(self) -> None:
        self.lock = lock_of()
        self.inside: list[int] = []
        self.before = 0
        in_children(self, _Limit.leave_others)

    def leave_others(self) -> None:
        """Let the threads go that a fork left behind."""
        self.inside = [thread for thread in self.inside if thread == get_ident()]


_LIMIT = _Limit()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Compute products in the calling thread alone, until the last that is in here has left."""
    library = _library()
    if library is None:
        yield
        return
    ask, tell = library
    with _LIMIT.lock:
        if not _LIMIT.inside:
            _LIMIT.before = ask()
            tell(1)
        _LIMIT.inside.append(get_ident())
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.inside.remove(get_ident())
            if not _LIMIT.inside:
                tell(_LIMIT.before)


@cache
def _library() -> tuple[Any, Any] | None:
    """Return how to ask and set the number of threads; None if this NumPy has no OpenBLAS of its own."""
    import ctypes

    for path in Path(np.__file__).parent.with_name("numpy.libs").glob("libscipy_openblas*"):
        library = ctypes.CDLL(str(path))
        for suffix in ("64_", ""):
            ask = getattr(library, f"scipy_openblas_get_num_threads{suffix}", None)
            tell = getattr(library, f"scipy_openblas_set_num_threads{suffix}", None)
            if ask is not None and tell is not None:
                return ask, tell
    return None
