"""What lowerings of hardware layers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.lowering.node_view import NotLowered
from brainsmith.execution.program.functions import shapes

if TYPE_CHECKING:
    from brainsmith.execution.lowering.node_view import NodeView

FINN = "finn.custom_op.fpgadataflow"
QONNX = "qonnx.custom_op.general"


def needed(node: NodeView, name: str) -> Any:
    """Return an attribute that the operator must state.

    Raises:
        NotLowered: It does not.
    """
    if name not in node.attributes:
        raise NotLowered(f"it does not state {name}")
    return node.attributes[name]


def whole_datatype(name: str) -> bool:
    """Tell whether the values of a QONNX datatype are whole numbers."""
    from qonnx.core.datatype import DataType

    return bool(DataType[name].is_integer())


def prove_moved(node: NodeView, *fills: int) -> None:
    """Prove of all outputs what is known of the first input, whose values they have, and of what fills the rest."""
    span = node.span(node.inputs[0])
    if span is None:
        return
    bipolar = span == (-1, 1) and node.datatype(node.inputs[0]) == "BIPOLAR" and not fills
    for name in filter(None, node.outputs):
        node.prove(name, min(span[0], *fills, span[0]), max(span[1], *fills, span[1]), bipolar)


def emit_reshaped(node: NodeView, source: str) -> None:
    """Give the only output the shape that the graph states."""
    node.emit(shapes.reshape, [source], node.outputs, shape=node.shape(node.outputs[0]))
