"""Ops: what users import, and the folder of the ops that ship.

    from brainsmith import ops

    @op(name="square", num_inputs=1)
    class Square(ops.Op): ...

    y = ops.execute_custom_op("square", [x])

The names come from the rooms that make them when they are asked for (PEP 562).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.autodiff.builder import CustomOpBuilder as CustomOpBuilder
    from brainsmith.autodiff.op import Gradient as Gradient
    from brainsmith.autodiff.op import Op as Op
    from brainsmith.autodiff.registry import execute_custom_op as execute_custom_op
    from brainsmith.autodiff.registry import get_custom_op as get_custom_op
    from brainsmith.autodiff.registry import is_custom_op_registered as is_custom_op_registered
    from brainsmith.autodiff.registry import list_custom_ops as list_custom_ops
    from brainsmith.autodiff.registry import register_custom_op as register_custom_op
    from brainsmith.autodiff.registry import unregister_custom_op as unregister_custom_op

_HOMES = {
    "Op": "brainsmith.autodiff.op",
    "Gradient": "brainsmith.autodiff.op",
    "CustomOpBuilder": "brainsmith.autodiff.builder",
    "execute_custom_op": "brainsmith.autodiff.registry",
    "get_custom_op": "brainsmith.autodiff.registry",
    "is_custom_op_registered": "brainsmith.autodiff.registry",
    "list_custom_ops": "brainsmith.autodiff.registry",
    "register_custom_op": "brainsmith.autodiff.registry",
    "unregister_custom_op": "brainsmith.autodiff.registry",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_HOMES)
