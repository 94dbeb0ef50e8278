"""Operators that only move values: of ONNX and QONNX, and layers of FINN (FIFOs, forks, joins, shuffles, crops)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.operator import Apart, Operator
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import shapes
from brainsmith.figures import plural
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

CROPPED = (2, 3, 4)
"""Ranks of the tensors that FINN crops: (W, C), (H, W, C), (N, H, W, C)."""


class Movement(ABC, Operator):
    """An operator whose output has values of its first input, in the shape that the graph states."""

    @abstractmethod
    def moved(self, node: ProgramNode) -> str:
        """Emit instructions that move the values; return the name of what they give, in any shape."""

    @abstractmethod
    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write operators that move the values of each run; return the name of what they give, in any shape."""

    def fills(self) -> tuple[float, ...]:
        """Return what is put beside the values: nothing."""
        return ()

    def to_program(self, node: ProgramNode) -> None:
        """Move the values; what was proved of them holds of the output too."""
        made = self.moved(node)
        for name in filter(None, node.outputs):
            node.emit(shapes.reshape, [made], [name], shape=node.shape(name))
        node.prove_moved(*self.fills())

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Move the values; what was proved of them holds of the output too."""
        made = self.written(node, emit)
        for name in filter(None, node.outputs):
            emit.reshaped(made, node.shape(name), name)
        node.prove_moved(*self.fills())


def apart(node: NodeView, emit: Emitter, shape: tuple[int, ...] = ()) -> str:
    """Write that the runs of the first input lie in an axis of their own, before a run's axes.

    Args:
        node: The first input's reader.
        emit: What is written.
        shape: That a run is given; empty if its own stays.
    """
    return emit.reshaped(node.inputs[0], (1, *(shape or node.shape(node.inputs[0]))))


def in_shape(node: ProgramNode, shape: tuple[int, ...]) -> str:
    """Emit that each run of the first input is given a shape, if there is one; return the name of what has it."""
    return node.emit(shapes.reshape, node.inputs[:1], shape=shape) if shape else node.inputs[0]


@dataclass(frozen=True)
class Same(Movement):
    """The values as they are, for each output."""

    def moved(self, node: ProgramNode) -> str:
        """Emit nothing."""
        return node.inputs[0]

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write nothing."""
        return node.inputs[0]


@dataclass(frozen=True)
class Shuffled(Movement):
    """A transpose of the values in a shape of their own.

    Attributes:
        shape: What is transposed.
        order: Of its axes.
    """

    shape: tuple[int, ...]
    order: tuple[int, ...]

    def moved(self, node: ProgramNode) -> str:
        """Reshape and transpose."""
        inner = node.emit(shapes.reshape, node.inputs[:1], shape=self.shape)
        return node.emit(shapes.transpose, [inner], order=self.order)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write both."""
        runs = emit.reshaped(node.inputs[0], (1, *self.shape))
        return emit.add("Transpose", [runs], perm=[0, *(axis + 1 for axis in self.order)])


@dataclass(frozen=True)
class Transposed(Shuffled):
    """A transpose of the tensor's own axes."""

    def to_program(self, node: ProgramNode) -> None:
        """Transpose."""
        node.emit(shapes.transpose, node.inputs, node.outputs, order=self.order)
        node.prove_moved()

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Transpose; as it is where the runs stay in the first axis."""
        if self.order[0]:
            super().to_onnx(node, emit)
            return
        emit.copy(node.node)
        node.prove_moved()


@dataclass(frozen=True)
class Cut(Movement):
    """A part of each axis.

    Attributes:
        starts: Axis by axis.
        ends: Likewise, one step after the last; None after the first entry, backwards.
        steps: Likewise.
        shape: In which it is cut out; empty if it is the input's own.
    """

    starts: tuple[int, ...]
    ends: tuple[int | None, ...]
    steps: tuple[int, ...]
    shape: tuple[int, ...] = ()

    def moved(self, node: ProgramNode) -> str:
        """Cut it out."""
        stated = {"starts": self.starts, "ends": self.ends, "steps": self.steps}
        return node.emit(shapes.slices, [in_shape(node, self.shape)], **stated)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write a part of each run, whatever it leaves of the first axis."""
        shape, axes = self.shape or node.shape(node.inputs[0]), range(1, len(self.starts) + 1)
        ends = [-size - 1 if end is None else end for size, end in zip(shape, self.ends, strict=True)]
        limits = [emit.constant(one, "limits", np.int64) for one in (self.starts, ends, axes, self.steps)]
        return emit.add("Slice", [apart(node, emit, self.shape), *limits])


@dataclass(frozen=True)
class PassedOn(Apart):
    """The first input as it is."""

    def to_program(self, node: ProgramNode) -> None:
        """Pass on.

        Raises:
            Unsupported: There is another output: what was dropped.
        """
        if any(node.outputs[1:]):
            raise Unsupported("its mask is used")
        node.emit(shapes.same, node.inputs[:1], node.outputs[:1])
        self.prove(node)

    def prove(self, node: NodeView) -> None:
        """Prove of the values what was proved of them before."""
        if not any(node.outputs[1:]):
            node.prove_moved()


@reads(STANDARD, "Identity", "Dropout")
def passed_on(node: NodeView) -> PassedOn:
    """Read one."""
    return PassedOn()


@reads(QONNX, "DebugMarker")  # the copy under another name is for QONNX's own execution
@reads(FINN, "StreamingFIFO", "StreamingDataWidthConverter", "DuplicateStreams", "ReplicateStream")
@reads(FINN, "Reshape", "Squeeze", "Unsqueeze")
@reads(STANDARD, "Reshape", "Flatten", "Squeeze", "Unsqueeze")
def same(node: NodeView) -> Same:
    """Read one that gives as many values as it takes, in the shapes that the graph states."""
    if node.is_computed(1):
        raise Unsupported("its shape is computed")
    if any(prod(node.shape(name)) != prod(node.shape(node.inputs[0])) for name in node.outputs if name):
        raise Unsupported("the graph states another size")
    return Same()


@reads(STANDARD, "Transpose")
def transpose(node: NodeView) -> Transposed:
    """Read one."""
    shape = node.shape(node.inputs[0])
    return Transposed(shape, tuple(node.attribute("perm", range(len(shape))[::-1])))


@reads(STANDARD, "DepthToSpace")
def depth_to_space(node: NodeView) -> Shuffled:
    """Read one, which makes images larger of their channels."""
    batch, channels, high, wide = node.shape(node.inputs[0])
    block = node.needed("blocksize")
    left = channels // block**2
    if node.attribute("mode", "DCR") == "DCR":
        return Shuffled((batch, block, block, left, high, wide), (0, 3, 4, 1, 5, 2))
    return Shuffled((batch, left, block, block, high, wide), (0, 1, 4, 2, 5, 3))


@reads(STANDARD, "SpaceToDepth")
def space_to_depth(node: NodeView) -> Shuffled:
    """Read one, which makes channels of the pixels of blocks."""
    batch, channels, high, wide = node.shape(node.inputs[0])
    block = node.needed("blocksize")
    return Shuffled((batch, channels, high // block, block, wide // block, block), (0, 3, 5, 1, 2, 4))


@reads(STANDARD, "Slice")
def part(node: NodeView) -> Cut:
    """Read one."""
    shape = node.shape(node.inputs[0])
    cuts = [slice(0, size, 1) for size in shape]
    starts, ends = node.stated(1, "starts"), node.stated(2, "ends")
    axes, steps = node.stated(3, "axes", range(len(starts))), node.stated(4, "steps", (1,) * len(starts))
    for axis, *limits in zip(axes, starts, ends, steps, strict=True):
        first, last, step = slice(*map(int, limits)).indices(shape[axis])
        cuts[axis] = slice(first, None if last < 0 else last, step)
    return Cut(*zip(*((cut.start, cut.stop, cut.step) for cut in cuts), strict=True))


@reads(FINN, "Shuffle", "OuterShuffle", "InnerShuffle")
def shuffle(node: NodeView) -> Shuffled:
    """Read one; an InnerShuffle exchanges the last two axes."""
    shape = tuple(node.needed("transpose_in_shape"))
    inner = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    return Shuffled(shape, inner if node.kind == "InnerShuffle" else tuple(node.needed("perm")))


@reads(FINN, "Crop")
def crop(node: NodeView) -> Cut:
    """Read one, which cuts the two axes before the channels, or the one that there is."""
    shape = node.shape(node.inputs[0])
    if len(shape) not in CROPPED:
        raise Unsupported(f"it crops a tensor of {plural(len(shape), 'axis', 'axes')}")
    height, width = node.needed("ImgDim")
    rows = (node.attribute("CropNorth", 0), height - node.attribute("CropSouth", 0))
    columns = (node.attribute("CropWest", 0), width - node.attribute("CropEast", 0))
    limits = [(0, shape[0]), rows, columns, (0, shape[-1])]
    if len(shape) < len(limits):
        limits = limits[-len(shape) :]
    starts, ends = zip(*limits, strict=True)
    return Cut(starts, ends, (1,) * len(limits))


@reads(FINN, "SelectToken")
def select_token(node: NodeView) -> Cut:
    """Read one, which takes one entry of the second axis."""
    shape = node.shape(node.inputs[0])
    token = node.needed("TokenIndex") % node.needed("NumTokens")
    return Cut((0, token, 0), (shape[0], token + 1, shape[2]), (1, 1, 1))
