"""ONNX's own operators, as their readers give them: standard ONNX already, which is copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


class Standard:
    """One of ONNX's own operators; unless a subclass says more, it has no program, and its first axis is the batch."""

    def to_program(self, node: ProgramNode) -> None:
        """Leave it to ONNX Runtime.

        Raises:
            Unsupported: Always.
        """
        raise Unsupported("it has no lowering")

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Copy the node."""
        emit.copy(node.node)
        self.prove(node)

    def prove(self, node: NodeView) -> None:
        """Prove of the outputs what is known: nothing."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: nothing."""
        return ""


@dataclass(frozen=True)
class Unread(Standard):
    """An operator of ONNX of which only ONNX Runtime knows what it computes.

    Attributes:
        reason: Why.
    """

    reason: str

    def to_program(self, node: ProgramNode) -> None:
        """Leave it to ONNX Runtime.

        Raises:
            Unsupported: Always.
        """
        raise Unsupported(self.reason)

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        return self.reason


def along(axis: int) -> str:
    """Return why what works along an axis of a run mixes runs; "" if it does not."""
    return "" if axis else "it works along the first axis"
