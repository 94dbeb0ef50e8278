"""Native libraries in processes of their own: shared memory, the worker, and ops that run there."""

from __future__ import annotations

from brainsmith.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.native.isolation.isolated_library import IsolatedLibrary as IsolatedLibrary
    from brainsmith.native.isolation.isolated_library import open_isolated as open_isolated
    from brainsmith.native.isolation.isolated_op import IsolatedOp as IsolatedOp

_HOMES = {
    "IsolatedLibrary": "brainsmith.native.isolation.isolated_library",
    "IsolatedOp": "brainsmith.native.isolation.isolated_op",
    "open_isolated": "brainsmith.native.isolation.isolated_library",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
