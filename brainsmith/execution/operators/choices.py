"""Layers of FINN that choose: Lookup by a number, LabelSelect by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.operators.registry import Apart, reads
from brainsmith.execution.program.functions import reductions, shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rows(Apart):
    """The rows of a table that numbers name.

    Attributes:
        table: (numbers, ...).
    """

    table: Array

    def to_program(self, node: ProgramNode) -> None:
        """Look rows up."""
        emit_reshaped(node, node.emit(shapes.look_up, [node.inputs[1], node.inputs[0]], axis=0))
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write that rows are gathered."""
        index = node.inputs[0]
        if node.dtype(index).name not in ("int32", "int64"):
            index = emit.add("Cast", [index], to=7)
        rows = emit.add("Gather", [emit.constant(self.table, "table"), index], axis=0)
        emit.reshaped(rows, node.shape(node.outputs[0]), node.outputs[0])
        self._prove(node)

    def _prove(self, node: NodeView) -> None:
        if (span := node.span(node.inputs[1])) is not None:
            node.prove(node.outputs[0], *span)


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
        emit_reshaped(node, node.emit(shapes.cast, [places], dtype="float32"))
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
    return Rows(node.needed_constant(1, "table"))


@reads(FINN, "LabelSelect")
def label_select(node: NodeView) -> Labels:
    """Read one."""
    return Labels(node.attribute("K", 1))
