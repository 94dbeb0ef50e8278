"""FINN's layers that move tokens: padding of sequences, and the heads of attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

SEQUENCE = 3
"""Axes of (heads or 1, tokens, channels)."""


@lowers(FINN, "Pad1D")
def pad_tokens(node: ProgramNode) -> None:
    """Put constant tokens, or one of them repeated, before and behind a sequence."""
    parts = [*_padding(node, 1, "PadLeft"), (node.inputs[0], None), *_padding(node, 2, "PadRight")]
    names, sizes = zip(*parts, strict=True)
    joined = node.emit(shapes.concatenate, names, shapes=sizes, axis=1)
    emit_reshaped(node, joined)
    node.prove_joined(names)


def _padding(node: ProgramNode, at: int, attribute: str) -> list[tuple[str, tuple[int, ...] | None]]:
    """Return a constant input and the shape to which it is repeated; nothing if there is no padding."""
    count = node.attribute(attribute, 0)
    if not count:
        return []
    return [(node.inputs[at], (1, count, node.needed_constant(at, "padding").shape[-1]))]


@lowers(FINN, "SplitMultiHeads")
def split_heads(node: ProgramNode) -> None:
    """Give each head its channels: as the first axis of one tensor, or as tensors."""
    heads, shape = node.needed("heads"), node.shape(node.inputs[0])
    if node.needed("packed"):
        split = node.emit(shapes.reshape, node.inputs, shape=(shape[0], heads, -1))
        node.emit(shapes.transpose, [split], node.outputs, order=(1, 0, 2))
    else:
        sizes = (shape[-1] // heads,) * heads
        node.emit(shapes.split, node.inputs, node.outputs, sizes=sizes, axis=len(shape) - 1)
    node.prove_moved()


@lowers(FINN, "MergeMultiHeads")
def merge_heads(node: ProgramNode) -> None:
    """Put the channels of all heads behind each other again."""
    if not node.needed("packed"):
        rank = len(node.shape(node.inputs[0]))
        if not all(node.varies(name) for name in node.inputs):
            raise Unsupported("one of its heads is a constant")
        merged = node.emit(shapes.concatenate, node.inputs, shapes=(None,) * len(node.inputs), axis=rank - 1)
        emit_reshaped(node, merged)
        return
    if len(node.shape(node.inputs[0])) != SEQUENCE:
        raise Unsupported("its input is not (heads, tokens, channels)")
    moved = node.emit(shapes.transpose, node.inputs, order=(1, 0, 2))
    emit_reshaped(node, moved)
    node.prove_moved()
