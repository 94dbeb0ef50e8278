"""FINN's softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.lowering.hardware import FINN
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import whole_rows

if TYPE_CHECKING:
    from brainsmith.execution.lowering.node_view import NodeView


@lowers(FINN, "HWSoftmax")
def finn_softmax(node: NodeView) -> None:
    """Divide powers by their sum."""
    node.emit(whole_rows.soften_floats, node.inputs, node.outputs, wide=False)
