"""Native libraries as bundles of ops: the C interface, probing, loading, isolation.

library = native.open_library("libleaky.so")
library.ops[0].forward(x)
library.close()
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.lazy_names import homes_of, lazy_names

if TYPE_CHECKING:
    from brainsmith.native.native_library import NativeLibrary as NativeLibrary
    from brainsmith.native.native_library import open_library as open_library
    from brainsmith.native.native_op import NativeOp as NativeOp


def include_folder() -> str:
    """Return the folder of `brainsmith_plugin.h`, for a compiler's `-I`."""
    return f"{__path__[0]}/include"


__getattr__, __dir__ = lazy_names(__name__, homes_of(__file__), "include_folder")
