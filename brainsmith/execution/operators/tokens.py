"""FINN's layers that move tokens: padding of sequences, and the heads of attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.execution.operators.joining import Split
from brainsmith.execution.operators.movement import Shuffled
from brainsmith.execution.operators.operator import Operator
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

Part = tuple[str, tuple[int, ...] | None]
"""A tensor, and for a constant the shape to which it is repeated."""

SEQUENCE = 3
"""Axes of (heads or 1, tokens, channels)."""


@dataclass(frozen=True)
class Beside(Operator):
    """Parts beside each other, in the shape that the graph states.

    Attributes:
        parts: In their order.
        axis: In which they lie.
    """

    parts: tuple[Part, ...]
    axis: int

    def to_program(self, node: ProgramNode) -> None:
        """Join."""
        names, sizes = zip(*self.parts, strict=True)
        node.emit_reshaped(node.emit(shapes.concatenate, names, shapes=sizes, axis=self.axis))
        node.prove_joined(names)


@reads(FINN, "Pad1D")
def padded(node: NodeView) -> Beside:
    """Read one: constant tokens, or one of them repeated, are before and after a sequence."""
    return Beside((*_padding(node, 1, "PadLeft"), (node.inputs[0], None), *_padding(node, 2, "PadRight")), 1)


def _padding(node: NodeView, at: int, attribute: str) -> list[Part]:
    count = node.attribute(attribute, 0)
    return [(node.inputs[at], (1, count, node.needed_constant(at, "padding").shape[-1]))] if count else []


@reads(FINN, "SplitMultiHeads")
def heads_apart(node: NodeView) -> Shuffled | Split:
    """Read one: each head gets its channels, as the first axis of one tensor, or as tensors."""
    heads, shape = node.needed("heads"), node.shape(node.inputs[0])
    channels = shape[-1] // heads
    if node.needed("packed"):
        return Shuffled((shape[0], heads, channels), (1, 0, 2))
    return Split((channels,) * heads, len(shape) - 1)


@reads(FINN, "MergeMultiHeads")
def heads_together(node: NodeView) -> Shuffled | Beside:
    """Read one: the channels of all heads are one after the other again."""
    shape = node.shape(node.inputs[0])
    if not node.needed("packed"):
        parts = [(name, None if node.varies(name) else node.shape(name)) for name in node.inputs]
        return Beside(tuple(parts), len(shape) - 1)
    if len(shape) != SEQUENCE:
        raise Unsupported("its input is not (heads, tokens, channels)")
    return Shuffled(shape, (1, 0, 2))
