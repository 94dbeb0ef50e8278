"""FINN's softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import whole_rows
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode


@lowers(FINN, "HWSoftmax")
def finn_softmax(node: ProgramNode) -> None:
    """Divide powers by their sum."""
    node.emit(whole_rows.soften_floats, node.inputs, node.outputs, wide=False)
