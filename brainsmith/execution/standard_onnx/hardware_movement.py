"""Layers that only move values: FIFOs, width converters, forks, joins, reshapes; and QONNX's DebugMarker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


@rewrites(QONNX, "DebugMarker")
@rewrites(
    FINN,
    "StreamingFIFO",
    "StreamingDataWidthConverter",
    "DuplicateStreams",
    "ReplicateStream",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
)
def rewrite_same_values(view: NodeView, emit: Emitter) -> None:
    """Write the values in the outputs' shapes; what lies in memory stays in its order."""
    for output in view.outputs:
        emit.reshaped(view.inputs[0], view.shape(output), output)
    view.prove_moved()


@rewrites(FINN, "StreamingConcat")
def rewrite_concat(view: NodeView, emit: Emitter) -> None:
    """Write the inputs beside each other in the last axis."""
    axis = len(view.shape(view.outputs[0])) - 1
    emit.add("Concat", view.inputs, view.outputs[0], axis=axis)
    view.prove_joined(view.inputs)


@rewrites(FINN, "StreamingSplit")
def rewrite_split(view: NodeView, emit: Emitter) -> None:
    """Write the parts of the last axis."""
    axis = len(view.shape(view.inputs[0])) - 1
    starts = np.cumsum([0, *view.needed("ChannelsPerStream")])
    for output, first, end in zip(view.outputs, starts[:-1], starts[1:], strict=True):
        limits = [emit.constant([value], "limit", np.int64) for value in (first, end, axis)]
        emit.add("Slice", [view.inputs[0], *limits], output)
    view.prove_moved()


@rewrites(FINN, "Shuffle", "OuterShuffle", "InnerShuffle")
def rewrite_shuffle(view: NodeView, emit: Emitter) -> None:
    """Write a transpose between two reshapes; an InnerShuffle exchanges the last two axes."""
    shape = view.needed("transpose_in_shape")
    inner = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    output = view.outputs[0]
    emit.transposed(view.inputs[0], shape, view.attribute("perm", inner), view.shape(output), output)
    view.prove_moved()


@rewrites(FINN, "Crop")
def rewrite_crop(view: NodeView, emit: Emitter) -> None:
    """Write what is left of (N, H, W, C) inside of the borders.

    Raises:
        Unsupported: It has no such image.
    """
    shape = view.shape(view.inputs[0])
    if len(shape) != 4:
        raise Unsupported(f"its image must have 4 axes, not shape {shape}")
    height, width = view.needed("ImgDim")
    starts = [view.needed("CropNorth"), view.needed("CropWest")]
    ends = [height - view.needed("CropSouth"), width - view.needed("CropEast")]
    limits = [emit.constant(values, "limits", np.int64) for values in (starts, ends, [1, 2])]
    emit.add("Slice", [view.inputs[0], *limits], view.outputs[0])
    view.prove_moved()


@rewrites(FINN, "UpsampleNearestNeighbour")
def rewrite_upsample(view: NodeView, emit: Emitter) -> None:
    """Write each pixel of (N, H, W, C) several times.

    Source: `execute_node` of FINN: the Resize of opset 13 in its default coordinates, `half_pixel`, whole factors.
    """
    factors = [round(view.needed(f"{axis}O") / view.needed(f"{axis}I")) for axis in ("H", "W")]
    x = view.inputs[0]
    for axis, factor in enumerate(factors, start=1):
        if factor != 1:
            shape = view.shape(view.inputs[0])
            places = np.repeat(np.arange(shape[axis]), factor)
            x = emit.add("Gather", [x, emit.constant(places, "pixels", np.int64)], axis=axis)
    emit.add("Identity", [x], view.outputs[0])
    view.prove_moved()
