"""Layers that only move values: FIFOs, width converters, forks, joins, shuffles, crops, enlarged images; DebugMarker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.registry import reads
from brainsmith.execution.program.functions import images, shapes
from brainsmith.figures import plural
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

CROPPED = (2, 3, 4)
"""Ranks of the tensors that FINN crops: (W, C), (H, W, C), (N, H, W, C)."""


class Movement(ABC):
    """An operator whose output has values of its first input, in the shape that the graph states."""

    @abstractmethod
    def moved(self, node: ProgramNode) -> str:
        """Emit instructions that move the values; return the name of what they give, in any shape."""

    @abstractmethod
    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write operators that move the values of each run; return the name of what they give, in any shape."""

    def to_program(self, node: ProgramNode) -> None:
        """Move the values; what was proved of them holds of the output too."""
        made = self.moved(node)
        for name in filter(None, node.outputs):
            node.emit(shapes.reshape, [made], [name], shape=node.shape(name))
        node.prove_moved()

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Move the values; what was proved of them holds of the output too."""
        made = self.written(node, emit)
        for name in filter(None, node.outputs):
            emit.reshaped(made, node.shape(name), name)
        node.prove_moved()


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
        inner = node.emit(shapes.reshape, node.inputs, shape=self.shape)
        return node.emit(shapes.transpose, [inner], order=self.order)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write both."""
        apart = emit.reshaped(node.inputs[0], (1, *self.shape))
        return emit.add("Transpose", [apart], perm=[0, *(axis + 1 for axis in self.order)])


@dataclass(frozen=True)
class Cut(Movement):
    """A window.

    Attributes:
        starts: Axis by axis.
        ends: Likewise, one behind the last.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def moved(self, node: ProgramNode) -> str:
        """Cut it out."""
        steps = (1,) * len(self.starts)
        return node.emit(shapes.slices, node.inputs, starts=self.starts, ends=self.ends, steps=steps)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write a window of each run, whatever it leaves of the first axis."""
        apart = emit.reshaped(node.inputs[0], (1, *node.shape(node.inputs[0])))
        axes = range(1, len(self.starts) + 1)
        limits = [emit.constant(values, "limits", np.int64) for values in (self.starts, self.ends, [*axes])]
        return emit.add("Slice", [apart, *limits])


@dataclass(frozen=True)
class Enlarged(Movement):
    """Each pixel of (N, H, W, C) several times.

    Attributes:
        factors: How often, along the rows and along the columns.
    """

    factors: tuple[int, ...]

    def moved(self, node: ProgramNode) -> str:
        """Repeat pixels."""
        return node.emit(images.enlarge, node.inputs, factors=self.factors)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write that pixels are gathered."""
        x = node.inputs[0]
        for axis, factor in enumerate(self.factors, start=1):
            if factor != 1:
                places = np.repeat(np.arange(node.shape(node.inputs[0])[axis]), factor)
                x = emit.add("Gather", [x, emit.constant(places, "pixels", np.int64)], axis=axis)
        return x


@dataclass(frozen=True)
class Joined:
    """All inputs, beside each other in the last axis."""

    def to_program(self, node: ProgramNode) -> None:
        """Join."""
        stacks, axis = (None,) * len(node.inputs), len(node.shape(node.inputs[0])) - 1
        node.emit(shapes.concatenate, node.inputs, node.outputs, shapes=stacks, axis=axis)
        node.prove_joined(node.inputs)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Join."""
        emit.add("Concat", node.inputs, node.outputs[0], axis=len(node.shape(node.outputs[0])) - 1)
        node.prove_joined(node.inputs)


@dataclass(frozen=True)
class Split:
    """The last axis in parts.

    Attributes:
        sizes: Of the parts.
    """

    sizes: tuple[int, ...]

    def to_program(self, node: ProgramNode) -> None:
        """Split."""
        axis = len(node.shape(node.inputs[0])) - 1
        node.emit(shapes.split, node.inputs, node.outputs, sizes=self.sizes, axis=axis)
        node.prove_moved()

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write the parts."""
        starts, axis = np.cumsum([0, *self.sizes]), len(node.shape(node.inputs[0])) - 1
        for output, first, end in zip(node.outputs, starts[:-1], starts[1:], strict=True):
            limits = [emit.constant([value], "limit", np.int64) for value in (first, end, axis)]
            emit.add("Slice", [node.inputs[0], *limits], output)
        node.prove_moved()


@reads(QONNX, "DebugMarker")  # the copy under another name is for QONNX's own execution
@reads(FINN, "StreamingFIFO", "StreamingDataWidthConverter", "DuplicateStreams", "ReplicateStream")
@reads(FINN, "Reshape", "Squeeze", "Unsqueeze")
def same(node: NodeView) -> Same:
    """Read one that gives as many values as it takes."""
    if any(prod(node.shape(name)) != prod(node.shape(node.inputs[0])) for name in node.outputs if name):
        raise Unsupported("the graph states another size")
    return Same()


@reads(FINN, "StreamingConcat")
def joined(node: NodeView) -> Joined:
    """Read one that joins no constants."""
    if not all(map(node.varies, node.inputs)):
        raise Unsupported("it joins a constant")
    return Joined()


@reads(FINN, "StreamingSplit")
def split(node: NodeView) -> Split:
    """Read one."""
    return Split(tuple(node.needed("ChannelsPerStream")))


@reads(FINN, "Shuffle", "OuterShuffle", "InnerShuffle")
def shuffle(node: NodeView) -> Shuffled:
    """Read one; an InnerShuffle exchanges the last two axes."""
    shape = tuple(node.needed("transpose_in_shape"))
    inner = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    return Shuffled(shape, inner if node.kind == "InnerShuffle" else tuple(node.needed("perm")))


@reads(FINN, "Crop")
def crop(node: NodeView) -> Cut:
    """Read one, which cuts the two axes in front of the channels, or the one that there is."""
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
    return Cut(starts, ends)


@reads(FINN, "SelectToken")
def select_token(node: NodeView) -> Cut:
    """Read one, which takes one entry of the second axis."""
    shape = node.shape(node.inputs[0])
    token = node.needed("TokenIndex") % node.needed("NumTokens")
    return Cut((0, token, 0), (shape[0], token + 1, shape[2]))


@reads(FINN, "UpsampleNearestNeighbour")
def enlarged(node: NodeView) -> Enlarged:
    """Read one.

    Source: `execute_node` of FINN: the Resize of opset 13 in its default coordinates, `half_pixel`, whole factors.
    """
    given, wanted = ([node.needed(axis + end) for axis in "HW"] for end in "IO")
    factors = tuple(round(to / of) for to, of in zip(wanted, given, strict=True))
    if any(of * by != to for of, by, to in zip(given, factors, wanted, strict=True)):
        raise Unsupported("it does not repeat all pixels equally often")
    return Enlarged(factors)
