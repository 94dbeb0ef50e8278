"""Native libraries as bundles of ops: the C interface, probing, loading, isolation.

library = native.open_library("libleaky.so")
library.ops[0].forward(x)
library.close()
"""

from __future__ import annotations

from brainsmith.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.native.native_library import NativeLibrary as NativeLibrary
    from brainsmith.native.native_library import open_library as open_library
    from brainsmith.native.native_op import NativeOp as NativeOp

_HOMES = {
    "NativeLibrary": "brainsmith.native.native_library",
    "open_library": "brainsmith.native.native_library",
    "NativeOp": "brainsmith.native.native_op",
}


def include_folder() -> str:
    """Return the folder of `brainsmith_plugin.h`, for a compiler's `-I`."""
    return f"{__path__[0]}/include"


__getattr__, __dir__ = lazy_names(__name__, _HOMES, "include_folder")
