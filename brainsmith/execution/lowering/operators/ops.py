"""Fused expressions. What other ops compute their own class says (`own_semantics.py`), or their forward, which is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.autodiff.graphs.node_lookup import FUSED, OPS_DOMAIN
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import fused
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode


@lowers(OPS_DOMAIN, FUSED)
def fused_elementwise(node: ProgramNode) -> None:
    """Compute the expression of all runs at once."""
    text = node.attribute("expression", "")
    rank = max((len(node.shape(name)) for name in node.inputs), default=0)
    if not text or any(len(node.shape(name)) != rank for name in node.outputs):
        raise Unsupported("the node itself says what it lacks")
    operands = [node.stack(at, rank) for at in range(len(node.inputs))]
    node.emit(fused.expression, operands, node.outputs, text=text)
