"""Native libraries in processes of their own: shared memory, the worker, and ops that run there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.native.isolation.isolated_op import IsolatedOp as IsolatedOp
    from brainsmith.native.isolation.library import IsolatedLibrary as IsolatedLibrary
    from brainsmith.native.isolation.library import open_isolated as open_isolated

_HOMES = {
    "IsolatedLibrary": "brainsmith.native.isolation.library",
    "IsolatedOp": "brainsmith.native.isolation.isolated_op",
    "open_isolated": "brainsmith.native.isolation.library",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_HOMES)
