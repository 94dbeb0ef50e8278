"""Fused expressions. What other ops compute their own class says (`semantics.py`), or their forward, which is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.autodiff.graphs.node_lookup import FUSED, OPS_DOMAIN
from brainsmith.execution.operators.one_instruction import OneInstruction
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import fused

if TYPE_CHECKING:
    from brainsmith.graph.node_view import NodeView


@reads(OPS_DOMAIN, FUSED)
def expression(node: NodeView) -> OneInstruction:
    """Read one; what has no text, or results of fewer axes than its inputs, says itself what it lacks."""
    text = node.attribute("expression", "")
    rank = max((len(node.shape(name)) for name in node.inputs), default=0)
    whole = text and all(len(node.shape(name)) == rank for name in node.outputs)
    return OneInstruction(fused.expression if whole else None, node.inputs, {"text": text})
