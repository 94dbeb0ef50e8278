"""QONNX's MultiThreshold and FINN's Thresholding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.lowering.staircase import emit_staircase
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

LAYOUTS = {2: "NC", 3: "NWC", 4: "NCHW"}
"""What QONNX takes for the layout of so many axes where none is stated."""


@lowers(QONNX, "MultiThreshold")
def multi_threshold(node: ProgramNode) -> None:
    """Count reached thresholds along the axis that the layout calls C."""
    emit_multi_threshold(node)


def emit_multi_threshold(node: ProgramNode) -> None:
    """Emit how many thresholds of the second input the first one reaches, with a scale and a bias."""
    rank = len(node.shape(node.inputs[0]))
    layout = node.attribute("data_layout", "") or LAYOUTS.get(rank, "")
    axis = layout.index("C") if "C" in layout else 1
    if axis >= rank:
        raise Unsupported(f"its input has no axis {axis} for channels")
    scale, bias = node.attribute("out_scale", 1.0), node.attribute("out_bias", 0.0)
    thresholds = node.needed_constant(1, "thresholds")
    emit_staircase(node, node.inputs[0], thresholds, axis - rank, scale, bias, node.outputs)


@lowers(FINN, "Thresholding")
def thresholding(node: ProgramNode) -> None:
    """Count reached thresholds along the last axis."""
    scale, bias = 1.0, float(node.attribute("ActVal", 0))
    if node.attribute("outputDataType", "") == "BIPOLAR":
        scale, bias = 2.0, 2 * bias - 1
    thresholds = node.needed_constant(1, "thresholds")
    emit_staircase(node, node.inputs[0], thresholds, -1, scale, bias, node.outputs)
