"""Operators that choose: Gather of ONNX and Lookup of FINN by a number, LabelSelect of FINN by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.movement import Movement, apart
from brainsmith.execution.operators.operator import Apart, Operator
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import reductions, shapes
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class Taken(Movement):
    """Entries of an axis.

    Attributes:
        places: Their numbers, from 0 on, in any shape.
        axis: Of the first input.
    """

    places: Array
    axis: int

    def moved(self, node: ProgramNode) -> str:
        """Take them."""
        return node.emit(shapes.take, [node.inputs[0], node.hold(self.places)], axis=self.axis)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write that they are gathered from each run."""
        places = emit.constant(self.places, "places", np.int64)
        return emit.add("Gather", [apart(node, emit), places], axis=self.axis + 1)


@dataclass(frozen=True)
class Rows(Operator):
    """The entries of a table that numbers name.

    Attributes:
        table: The name of this input.
        index: The name of the input with the numbers.
        axis: Of the table.
    """

    table: str
    index: str
    axis: int = 0

    def to_program(self, node: ProgramNode) -> None:
        """Look entries up."""
        node.emit_reshaped(node.emit(shapes.look_up, [self.table, self.index], axis=self.axis))
        node.prove_same(node.outputs[0], self.table)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write that entries are gathered."""
        index = self.index
        if node.dtype(index).name not in ("int32", "int64"):
            index = emit.add("Cast", [index], to=7)
        found = emit.add("Gather", [self.table, index], axis=self.axis)
        emit.reshaped(found, node.shape(node.outputs[0]), node.outputs[0])
        node.prove_same(node.outputs[0], self.table)

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        return "the axis of its table is not the first one" if self.axis else ""


@dataclass(frozen=True)
class Labels(Apart):
    """The places of the greatest values of the last axis, as float32; of equal ones the first counts.

    Attributes:
        count: How many.
    """

    count: int

    def to_program(self, node: ProgramNode) -> None:
        """Sort.

        Raises:
            Unsupported: A value may be NaN.
        """
        if node.span(node.inputs[0]) is None:
            raise Unsupported("its input may be NaN")
        places, axis = f"{node.outputs[0]}##places", len(node.shape(node.inputs[0])) - 1
        node.emit(reductions.top, node.inputs, ["", places], count=self.count, axis=axis, largest=True)
        node.emit_reshaped(node.emit(shapes.cast, [places], dtype="float32"))
        node.prove(node.outputs[0], 0, node.shape(node.inputs[0])[-1] - 1)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a TopK."""
        labels, output = emit.fresh(node.outputs[0]), node.outputs[0]
        count = emit.constant([self.count], "count", np.int64)
        emit.add_several("TopK", [node.inputs[0], count], [emit.fresh(output), labels])
        emit.reshaped(emit.add("Cast", [labels], to=1), node.shape(output), output)
        node.prove(output, 0, node.shape(node.inputs[0])[-1] - 1)


@reads(FINN, "Lookup")
def look_up(node: NodeView) -> Rows:
    """Read one."""
    node.needed_constant(1, "table")
    return Rows(node.inputs[1], node.inputs[0])


@reads(STANDARD, "Gather")
def gather(node: NodeView) -> Taken | Rows:
    """Read one: constant numbers of a tensor, or any of a table."""
    shape = node.shape(node.inputs[0])
    axis = node.attribute("axis", 0) % len(shape)
    places = node.constant(1)
    if places is not None:
        return Taken(np.where(places < 0, places + shape[axis], places), axis)
    node.needed_constant(0, "table")
    return Rows(node.inputs[0], node.inputs[1], axis)


@reads(FINN, "LabelSelect")
def label_select(node: NodeView) -> Labels:
    """Read one."""
    return Labels(node.attribute("K", 1))
