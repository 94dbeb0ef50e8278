"""What the class of a custom operation, or of an op, says of how it is executed, beside its shapes and its Python model.

A class may have any of these methods, and inherits them: a backend is executed as its kernel. Without them its Python
model is executed.

    to_program(node)     emits instructions that compute what the Python model computes
    to_onnx(node, emit)  writes standard operators that do, for any number of runs that lie one after the other in the
                         first axis of its inputs
    mixes_runs(node)     returns why neither the Python model nor `to_onnx` can compute several such runs; "" if both can.
                         Without it, `to_onnx` can and the Python model cannot
    kernel_behind        of a backend: the class behind which its kernel follows in the order of inheritance; what
                         `execute_node` in front of it does is only to choose between that and a simulation

A class that replaces the Python model of one of its bases replaces these methods of it, too: they are of another model.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.graphs.node_lookup import OPS_DOMAIN
from brainsmith.errors import MissingOpError
from brainsmith.execution.known_operators import has_python_model
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.graph.node_view import NodeView

_MODELS = ("execute_node", "golden", "forward")
"""Where a Python model is defined."""


def own_method(node: Any, opset: int, name: str) -> Callable[..., Any] | None:
    """Return one of these methods of a node's class, which is imported; None if it has none, or that of a replaced model.

    Args:
        node: Of a model.
        opset: The version of its domain in the model.
        name: Of the method.
    """
    operation = _operation(node, opset)
    order = type(operation).__mro__
    at = next((at for at, cls in enumerate(order) if name in vars(cls)), None)
    if at is None:
        return None
    behind = order[order.index(_model_class(operation)) : at + 1]
    models = [cls for cls in behind if any(model in vars(cls) for model in _MODELS)]
    return getattr(operation, name) if len(models) < 2 else None


def take_kernel(view: NodeView) -> None:
    """Let a node of a backend that has no kernel's name be known as the kernel of FINN's that its class derives from."""
    from qonnx.custom_op.registry import is_custom_op

    if view.family != FINN or is_custom_op(FINN, view.kind):
        return
    kernel = _model_class(_operation(view.node, view.opset))
    if kernel.__module__.startswith(FINN):
        view.family, view.kind = FINN, kernel.__name__


def _operation(node: Any, opset: int) -> Any | None:
    if not has_python_model(node):
        return None
    from qonnx.custom_op.registry import getCustomOp

    with suppress(MissingOpError):  # which is reported where the node is to run
        operation = getCustomOp(node, onnx_opset_version=opset)
        return operation.op if node.domain == OPS_DOMAIN else operation
    return None


def _model_class(operation: Any) -> type:
    """Return the class whose Python model is executed: of a backend that only chooses, its kernel's."""
    order, behind = type(operation).__mro__, getattr(operation, "kernel_behind", None)
    if behind is None or any("execute_node" in vars(cls) for cls in order[: _chooser(order)]):
        return order[0]
    return order[order.index(behind) + 1]


def _chooser(order: tuple[type, ...]) -> int:
    return next(at for at, cls in enumerate(order) if "kernel_behind" in vars(cls))
