"""Counting thresholds: MultiThreshold of QONNX, Thresholding of FINN, and what FINN's products end with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.onnx.counting import emit_levels
from brainsmith.execution.operators.operator import Operator
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import shapes
from brainsmith.execution.program.staircase import emit_staircase
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


_LAYOUTS = {2: "NC", 3: "NWC", 4: "NCHW"}
"""What QONNX takes a tensor without a layout for, by its rank."""


@dataclass(frozen=True)
class Threshold(Operator):
    """`scale * (how many thresholds of its channel are <= x) + bias`, each step in float32.

    Attributes:
        rows: (channels or 1, thresholds), of the type of what is compared, ascending, NaN last.
        axis: Of the channels, from the end.
        scale: Of the result.
        bias: Of the result.
    """

    rows: Array
    axis: int
    scale: float
    bias: float

    @classmethod
    def of(
        cls,
        thresholds: Array,
        axis: int,
        shape: tuple[int, ...],
        scale: float,
        bias: float,
        dtype: Any = np.float32,
    ) -> Threshold:
        """Make one of thresholds (channels or 1, thresholds) in any order, for tensors of a shape and a type.

        Raises:
            Unsupported: There are not as many rows of thresholds as channels.
        """
        fits = thresholds.ndim == 2 and axis < len(shape) and len(thresholds) in (1, shape[axis])
        if not fits:
            raise Unsupported(
                f"its thresholds have shape {thresholds.shape}, its tensor {shape} with the channels in axis {axis}"
            )
        near = thresholds.astype(dtype)
        # Float32 values reach a threshold if they reach the next float32 above it; the nearest may be below.
        rows = np.where(near < thresholds, np.nextafter(near, near.dtype.type(np.inf)), near)
        return cls(np.sort(rows, axis=1), axis - len(shape), float(scale), float(bias))

    @property
    def levels(self) -> Array:
        """The results, by how many thresholds are reached."""
        counts = np.arange(self.rows.shape[1] + 1, dtype=np.float32)
        return np.asarray(self.scale * counts + self.bias, np.float32)

    def to_program(self, node: ProgramNode) -> None:
        """Count in the way that is the fastest for these thresholds."""
        if not node.is_double(node.outputs[0]):
            emit_staircase(node, node.inputs[0], self, node.outputs)
            return
        levels = emit_staircase(node, node.inputs[0], self, None)
        node.emit(shapes.cast, [levels], node.outputs, dtype="float64")
        node.prove_same(node.outputs[0], levels)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a comparison, a look-up or a search."""
        output, wide = node.outputs[0], node.is_double(node.outputs[0])
        made = emit.fresh(output) if wide else output
        node.facts.state_shape(made, node.shape(output))
        emit_levels(node, emit, node.inputs[0], self.rows, self.axis, self.levels, made)
        if wide:
            emit.add("Cast", [made], output, to=11)
            node.prove_same(output, made)

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: channels lie there that differ."""
        first = -self.axis == len(node.shape(node.inputs[0]))
        return "its channels are in the first axis" if first and len(self.rows) > 1 else ""


@reads(QONNX, "MultiThreshold")
def multi_threshold(node: NodeView) -> Threshold:
    """Read one, whose layout says where its channels are."""
    shape = node.shape(node.inputs[0])
    layout = node.attribute("data_layout", "") or _LAYOUTS.get(len(shape), "")
    axis = layout.index("C") if "C" in layout else 1
    scale, bias = node.attribute("out_scale", 1.0), node.attribute("out_bias", 0.0)
    rows, kind = node.needed_constant(1, "thresholds"), _type(node)
    return Threshold.of(rows, axis, shape, scale, bias, kind)


@reads(FINN, "Thresholding")
def thresholding(node: NodeView) -> Threshold:
    """Read one, with the channels in the last axis."""
    shape = node.shape(node.inputs[0])
    scale, bias = 1.0, float(node.attribute("ActVal", 0))
    if node.attribute("outputDataType") == "BIPOLAR":
        scale, bias = 2.0, 2 * bias - 1
    rows, kind = node.needed_constant(1, "thresholds"), _type(node)
    return Threshold.of(rows, len(shape) - 1, shape, scale, bias, kind)


def _type(node: NodeView) -> type:
    """Return the type in which values are compared: float64 if the graph says that they are of it."""
    return np.float64 if node.is_double(node.inputs[0]) else np.float32


def activation(node: NodeView, thresholds: Array, shape: tuple[int, ...]) -> Threshold:
    """Read the thresholds of a layer that multiplies first, into a tensor of a shape with the channels last."""
    bipolar = node.attribute("outputDataType") == "BIPOLAR"
    scale, bias = (2.0, -1.0) if bipolar else (1.0, float(node.attribute("ActVal", 0)))
    return Threshold.of(thresholds, len(shape) - 1, shape, scale, bias)
