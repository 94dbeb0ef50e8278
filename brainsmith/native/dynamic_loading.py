"""Load a library with those beside it: in this process, in the one that tries it, and in a worker."""

from __future__ import annotations

import ctypes
import os

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def load(place: str, beside: Sequence[str]) -> ctypes.CDLL:
    """Load a library.

    The system's loader takes a needed library that is loaded already, by its name (DT_SONAME) or as the same file. So
    those that lie beside the library are loaded first, by their own paths: they then find what lies beside them.

    Args:
        place: Its path for the loader.
        beside: Paths of the libraries that it needs and that its own folder leads to.

    Raises:
        OSError: The loader refuses it.
    """
    from _ctypes import dlclose

    mode = os.RTLD_NOW | os.RTLD_LOCAL
    held = [handle for path in beside if (handle := _try(path, mode))]
    try:
        return ctypes.CDLL(place, mode=mode)
    finally:
        for handle in held:  # the library holds them now
            dlclose(handle)


def _try(path: str, mode: int) -> int:
    """Return the handle of a library; 0 if it cannot be loaded: the one that needs it will say why."""
    try:
        return ctypes.CDLL(path, mode=mode)._handle
    except OSError:
        return 0
