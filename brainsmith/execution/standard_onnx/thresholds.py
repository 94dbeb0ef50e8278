"""MultiThreshold of QONNX and Thresholding of FINN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.standard_onnx.counting import emit_levels
from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

Array = np.ndarray[Any, Any]

_LAYOUTS = {2: "NC", 3: "NWC", 4: "NCHW"}
"""What QONNX takes a tensor without a layout for, by its rank."""


@rewrites(QONNX, "MultiThreshold")
def rewrite_multi_threshold(view: NodeView, emit: Emitter) -> None:
    """Write scale * (how many thresholds are reached) + bias.

    Raises:
        ModelError: The thresholds change, or do not fit the channels.
    """
    thresholds = view.needed_constant(1, "thresholds")
    rank = len(view.shape(view.inputs[0]))
    layout = view.attribute("data_layout", "") or _LAYOUTS.get(rank, "")
    axis = layout.index("C") if "C" in layout else 1
    counts = np.arange(thresholds.shape[1] + 1, dtype=np.float32)
    scale, bias = view.attribute("out_scale", 1.0), view.attribute("out_bias", 0.0)
    levels = np.asarray(scale * counts + bias, np.float32)
    emit_levels(view, emit, view.inputs[0], thresholds, axis, levels, view.outputs[0])


@rewrites(FINN, "Thresholding")
def rewrite_thresholding(view: NodeView, emit: Emitter) -> None:
    """Write how many of the last axis' thresholds are reached, and its offset.

    Raises:
        ModelError: The thresholds change, or do not fit the channels.
    """
    thresholds = view.needed_constant(1, "thresholds")
    axis = len(view.shape(view.inputs[0])) - 1
    levels = np.arange(thresholds.shape[1] + 1, dtype=np.float32) + view.attribute("ActVal", 0)
    if view.attribute("outputDataType") == "BIPOLAR":
        levels = 2 * levels - 1
    emit_levels(view, emit, view.inputs[0], thresholds, axis, levels, view.outputs[0])


def hardware_levels(view: NodeView, thresholds: Array) -> Array:
    """Return the levels of a layer that multiplies and then thresholds."""
    counts = np.arange(thresholds.shape[1] + 1, dtype=np.float32)
    if view.attribute("outputDataType") == "BIPOLAR":
        return np.asarray(2 * counts - 1, np.float32)
    return np.asarray(counts + view.attribute("ActVal", 0), np.float32)
