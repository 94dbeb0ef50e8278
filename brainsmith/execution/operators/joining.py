"""Operators that join tensors along an axis, or split one: Concat and Split of ONNX, and of FINN's streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.operator import Operator, along
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class Joined(Operator):
    """All inputs, beside each other.

    Attributes:
        axis: In which.
    """

    axis: int

    def to_program(self, node: ProgramNode) -> None:
        """Join."""
        fixed = tuple(None if node.varies(name) else node.shape(name) for name in node.inputs)
        node.emit(shapes.concatenate, node.inputs, node.outputs, shapes=fixed, axis=self.axis)
        node.prove_joined(node.inputs)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Join."""
        emit.add("Concat", node.inputs, node.outputs[0], axis=self.axis)
        node.prove_joined(node.inputs)

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        constants = [f"constant '{name}' has no runs" for name in node.inputs if not node.varies(name)]
        return along(self.axis) or next(iter(constants), "")


@dataclass(frozen=True)
class Split(Operator):
    """An axis in parts.

    Attributes:
        sizes: Of the parts.
        axis: Which.
    """

    sizes: tuple[int, ...]
    axis: int

    def to_program(self, node: ProgramNode) -> None:
        """Split."""
        node.emit(shapes.split, node.inputs[:1], node.outputs, sizes=self.sizes, axis=self.axis)
        node.prove_moved()

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write the parts."""
        starts = np.cumsum([0, *self.sizes])
        for output, first, end in zip(node.outputs, starts[:-1], starts[1:], strict=True):
            limits = [emit.constant([value], "limit", np.int64) for value in (first, end, self.axis)]
            emit.add("Slice", [node.inputs[0], *limits], output)
        node.prove_moved()

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        return along(self.axis)


@reads(FINN, "StreamingConcat")
@reads(STANDARD, "Concat")
def joined(node: NodeView) -> Joined:
    """Read one; a layer joins channels, and no constants."""
    if node.family == FINN and not all(map(node.varies, node.inputs)):
        raise Unsupported("it joins a constant")
    return Joined(node.attribute("axis", -1) % len(node.shape(node.outputs[0])))


@reads(FINN, "StreamingSplit")
def split_channels(node: NodeView) -> Split:
    """Read one."""
    return Split(tuple(node.needed("ChannelsPerStream")), len(node.shape(node.inputs[0])) - 1)


@reads(STANDARD, "Split")
def split(node: NodeView) -> Split:
    """Read one, which gives the shapes that the graph states."""
    axis = node.attribute("axis", 0) % len(node.shape(node.inputs[0]))
    return Split(tuple(node.shape(name)[axis] for name in node.outputs), axis)
