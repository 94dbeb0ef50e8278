"""Operators that repeat tensors or their entries: Expand, Tile and Resize of ONNX, UpsampleNearestNeighbour of FINN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.movement import Movement
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class Repeated(Movement):
    """The whole tensor several times.

    Attributes:
        shape: Of the tensor, led by ones.
        times: How often, axis by axis.
    """

    shape: tuple[int, ...]
    times: tuple[int, ...]

    def moved(self, node: ProgramNode) -> str:
        """Repeat it."""
        given = node.emit(shapes.reshape, node.inputs[:1], shape=self.shape)
        return node.emit(shapes.tile, [given], repeats=self.times)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write that each run is repeated."""
        runs = emit.reshaped(node.inputs[0], (1, *self.shape))
        return emit.add("Tile", [runs, emit.constant([1, *self.times], "repeats", np.int64)])


@dataclass(frozen=True)
class Enlarged(Movement):
    """Each entry several times.

    Attributes:
        factors: How often, axis by axis.
    """

    factors: tuple[int, ...]

    def moved(self, node: ProgramNode) -> str:
        """Repeat entries."""
        return node.emit(shapes.enlarge, node.inputs[:1], factors=self.factors)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write that entries are gathered."""
        x = node.inputs[0]
        for axis, (size, factor) in enumerate(zip(node.shape(x), self.factors, strict=True)):
            if factor != 1:
                places = emit.constant(np.repeat(np.arange(size), factor), "entries", np.int64)
                x = emit.add("Gather", [x, places], axis=axis)
        return x


@dataclass(frozen=True)
class Resized(Enlarged):
    """ONNX's Resize, which standard ONNX has as it is.

    Attributes:
        flaw: Why it does not just repeat entries; empty if it does.
        mixed: Why several runs cannot lie in the first axis; empty if they can.
    """

    flaw: str
    mixed: str

    def to_program(self, node: ProgramNode) -> None:
        """Repeat entries.

        Raises:
            Unsupported: That is not what it does.
        """
        if self.flaw:
            raise Unsupported(self.flaw)
        super().to_program(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Copy the node."""
        emit.copy(node.node)
        if not self.flaw:
            node.prove_moved()

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        return self.mixed


@reads(STANDARD, "Expand", "Tile")
def repeated(node: NodeView) -> Repeated:
    """Read one, which gives the shape that the graph states."""
    if node.is_computed(1):
        raise Unsupported("its shape is computed")
    shape, wanted = node.shape(node.inputs[0]), node.shape(node.outputs[0])
    shape = (1,) * (len(wanted) - len(shape)) + shape
    return Repeated(shape, tuple(to // max(of, 1) for of, to in zip(shape, wanted, strict=True)))


@reads(FINN, "UpsampleNearestNeighbour")
def enlarged(node: NodeView) -> Enlarged:
    """Read one.

    Source: `execute_node` of FINN: the Resize of opset 13 in its default coordinates, `half_pixel`, whole factors.
    """
    given, wanted = ([node.needed(axis + end) for axis in "HW"] for end in "IO")
    factors = tuple(round(to / of) for to, of in zip(wanted, given, strict=True))
    if any(of * by != to for of, by, to in zip(given, factors, wanted, strict=True)):
        raise Unsupported("it does not repeat all pixels equally often")
    return Enlarged((1, *factors, 1))


@reads(STANDARD, "Resize", "Upsample")
def resized(node: NodeView) -> Resized:
    """Read one, which may repeat entries by whole factors."""
    before, after = node.shape(node.inputs[0]), node.shape(node.outputs[0])
    scales = node.constant(1 if node.kind == "Upsample" or node.opset < 11 else 2)
    kept = scales is not None and scales.size > 0 and scales[0] == 1
    computed = any(map(node.is_computed, range(1, len(node.inputs))))
    mixed = "" if kept and not computed else "it resizes the first axis, or to a stated size"
    if any(to % max(of, 1) for of, to in zip(before, after, strict=True)):
        return Resized((), "it does not repeat pixels", mixed)
    factors = tuple(to // max(of, 1) for of, to in zip(before, after, strict=True))
    return Resized(factors, _flaw_of_resize(node), mixed)


def _flaw_of_resize(node: NodeView) -> str:
    """Return why a Resize by whole factors does not just repeat entries; empty if it does."""
    if node.attribute("mode", "nearest") != "nearest":
        return "it does not repeat pixels"
    placed = node.attribute("coordinate_transformation_mode", "half_pixel")
    rounded = node.attribute("nearest_mode", "round_prefer_floor")
    plain = placed == "half_pixel" and rounded.startswith("round")
    if node.kind == "Upsample" or plain or (placed, rounded) == ("asymmetric", "floor"):
        return ""
    return "its pixels are placed in another way"
