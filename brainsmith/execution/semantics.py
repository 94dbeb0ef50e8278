"""How a node is executed: by what is read of its operator, by what its class says, or as itself. Decided here alone.

What is read (`operators/`) comes first. Else the class of a custom operation, or of an op, may say it, beside its shapes
and its Python model. It may have any of these methods, and inherits them: a backend is executed as its kernel. Without
them its Python model is executed.

    to_program(node)     emits instructions that compute what the Python model computes
    to_onnx(node, emit)  writes standard operators that do, for any number of runs that lie one after the other in the
                         first axis of its inputs
    mixes_runs(node)     returns why neither the Python model nor `to_onnx` can compute several such runs; "" if both can.
                         Without it, `to_onnx` can and the Python model cannot
    kernel_behind        of a backend: the class after which its kernel follows in the order of inheritance; what
                         `execute_node` before it does is only to choose between that and a simulation

A class that replaces the Python model of one of its bases replaces these methods of it, too: they are of another model.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.graphs.node_lookup import OPS_DOMAIN
from brainsmith.errors import MissingOpError
from brainsmith.execution.known_operators import has_python_model
from brainsmith.execution.operators.operator import Operator
from brainsmith.execution.operators.readers import read
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

_MODELS = ("execute_node", "golden", "forward")
"""Where a Python model is defined."""

_FORMS = ("to_program", "to_onnx", "mixes_runs")


@dataclass(frozen=True)
class Semantics:
    """The forms of a node; those that it does not have raise Unsupported.

    Attributes:
        to_program: As above.
        to_onnx: As above.
        mixes_runs: As above; None stands for not being there.
        own: Whether the node's class says them, and nothing was read.
    """

    to_program: Callable[[ProgramNode], None]
    to_onnx: Callable[[NodeView, Emitter], None]
    mixes_runs: Callable[[NodeView], str | None]
    own: bool


def semantics_of(view: NodeView) -> Semantics:
    """Decide how a node is executed.

    Args:
        view: Of a backend that has no kernel's name, it is known as the kernel of FINN's from then on.

    Raises:
        Unsupported: Its operator is known, and this node of it is not supported.
    """
    _take_kernel(view)
    operator = read(view)
    forms = {name: getattr(operator or Operator(), name) for name in _FORMS}
    if operator is None:
        forms |= own_methods(view.node, view.opset)
        if view.attribute("exec_mode", "") not in ("", "python"):  # it is to run as C++ or RTL
            forms["to_program"] = Operator().to_program
    return Semantics(**forms, own=operator is None)


def own_methods(node: Any, opset: int) -> dict[str, Callable[..., Any]]:
    """Return those of these methods that a node's class has; none of a model that it replaces. The class is imported.

    Args:
        node: Of a model.
        opset: The version of its domain in the model.
    """
    operation = _operation(node, opset)
    order = type(operation).__mro__
    found = {}
    for name in _FORMS:
        at = next((at for at, cls in enumerate(order) if name in vars(cls)), None)
        if at is None:
            continue
        behind = order[order.index(_model_class(operation)) : at + 1]
        if sum(any(model in vars(cls) for model in _MODELS) for cls in behind) < 2:
            found[name] = getattr(operation, name)
    return found


def _take_kernel(view: NodeView) -> None:
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
        return getattr(operation, "op", operation) if node.domain == OPS_DOMAIN else operation
    return None


def _model_class(operation: Any) -> type:
    """Return the class whose Python model is executed: of a backend that only chooses, its kernel's."""
    order, behind = type(operation).__mro__, getattr(operation, "kernel_behind", None)
    if behind is None or any("execute_node" in vars(cls) for cls in order[: _chooser(order)]):
        return order[0]
    return order[order.index(behind) + 1]


def _chooser(order: tuple[type, ...]) -> int:
    return next(at for at, cls in enumerate(order) if "kernel_behind" in vars(cls))
