"""Native libraries as bundles of ops: the C interface, probing, loading, isolation.

library = native.open_library("libleaky.so")
library.ops[0].forward(x)
library.close()
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.native.library import NativeLibrary as NativeLibrary
    from brainsmith.native.library import open_library as open_library
    from brainsmith.native.native_op import NativeOp as NativeOp

_HOMES = {
    "NativeLibrary": "brainsmith.native.library",
    "open_library": "brainsmith.native.library",
    "NativeOp": "brainsmith.native.native_op",
}


def include_folder() -> str:
    """Return the folder of `brainsmith_plugin.h`, for a compiler's `-I`."""
    return f"{__path__[0]}/include"


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, "include_folder"])
