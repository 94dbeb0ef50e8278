"""What the value that is read of a node says: its program, its standard ONNX, and whether it keeps runs apart.

A tensor of one run has shape (A, ...); of n runs (n * A, ...), the runs in their order. An operator *keeps runs apart* if
it turns such inputs into such outputs. Where every node does, the whole graph takes any number of runs at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

APART = ""
"""The answer of an operator that keeps runs apart; any other text says why it does not."""


class Operator:
    """What a node computes; a subclass that leaves a form out is run as it is, or cannot be written as standard ONNX."""

    def to_program(self, node: ProgramNode) -> None:
        """Emit instructions that compute it.

        Raises:
            Unsupported: It runs as its Python model, or in ONNX Runtime.
        """
        raise Unsupported("it has no lowering")

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write standard operators that compute it, for any number of runs; ONNX's own are copied.

        Raises:
            Unsupported: It cannot be written.
        """
        if node.family != STANDARD:
            raise Unsupported(f"operator {node.op_type} of domain {node.domain} has no form in standard ONNX")
        emit.copy(node.node)
        self.prove(node)

    def prove(self, node: NodeView) -> None:
        """Prove of the outputs what is known: nothing."""

    def mixes_runs(self, node: NodeView) -> str | None:
        """Return why several runs cannot lie in the first axis; None if only standard ONNX is known to keep them apart."""
        return None


class Apart(Operator):
    """An operator whose first axis is the batch, or that works along the last axis of two or more."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: nothing."""
        return APART


@dataclass(frozen=True)
class Unread(Operator):
    """An operator of ONNX of which only ONNX Runtime knows what it computes.

    Attributes:
        reason: Why.
    """

    reason: str

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        return self.reason


class ByValue(Operator):
    """An operator that works value by value, with parameters that broadcast to its tensor."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: an input is repeated along it, or differs."""
        shape = node.shape(node.outputs[0])
        for at, name in enumerate(node.inputs):
            if not name:
                continue
            given = node.shape(name)
            if node.is_computed(at) and (len(given) != len(shape) or given[0] != shape[0]):
                return f"input '{name}' of shape {given} is repeated along the first axis"
            if not node.is_computed(at) and len(given) == len(shape) and given[0] != 1:
                return f"constant '{name}' differs along the first axis"
        return APART


def along(axis: int) -> str:
    """Return why what works along an axis of a run mixes runs; "" if it does not."""
    return "" if axis else "it works along the first axis"
