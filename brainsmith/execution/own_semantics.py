"""What the class of a custom operation says of how it is executed, beside its shapes and its Python model.

A class may have any of these methods, and inherits them: a backend is executed as its kernel. Without them its Python
model is executed.

    to_program(node)     emits instructions that compute what the Python model computes
    to_onnx(node, emit)  writes standard operators that do, for any number of runs that lie one after the other in the
                         first axis of its inputs
    mixes_runs(node)     returns why neither the Python model nor `to_onnx` can compute several such runs; "" if both can.
                         Without it, `to_onnx` can and the Python model cannot
    executed_as()        returns the class whose Python model is executed, where that may be a kernel of FINN's
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.graphs.node_lookup import OPS_DOMAIN
from brainsmith.execution.known_operators import has_python_model
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.graph.node_view import NodeView


def own_method(node: Any, opset: int, name: str) -> Callable[..., Any] | None:
    """Return one of these methods of a node's class, which is imported; None if it has none, as ops.

    Args:
        node: Of a model.
        opset: The version of its domain in the model.
        name: Of the method.
    """
    if node.domain == OPS_DOMAIN or not has_python_model(node):
        return None
    from qonnx.custom_op.registry import getCustomOp

    return getattr(getCustomOp(node, onnx_opset_version=opset), name, None)


def take_kernel(view: NodeView) -> None:
    """Let a node of a backend that has no kernel's name be known as the kernel of FINN's as which its class is executed."""
    from qonnx.custom_op.registry import is_custom_op

    if view.family != FINN or is_custom_op(FINN, view.kind):
        return
    executed_as = own_method(view.node, view.opset, "executed_as")
    if executed_as is not None and (kernel := executed_as()).__module__.startswith(FINN):
        view.family, view.kind = FINN, kernel.__name__
