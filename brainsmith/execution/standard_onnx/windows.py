"""Sliding windows: Im2Col of QONNX, ConvolutionInputGenerator and FMPadding of FINN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

_FEW = 4


@rewrites(QONNX, "Im2Col")
def rewrite_im2col(view: NodeView, emit: Emitter) -> None:
    """Write the windows of an image (1, H, W, C) as (1, OH, OW, KH * KW * C).

    Raises:
        Unsupported: The model's batch is not 1: QONNX's own execution then mixes its images.
    """
    shape = view.shape(view.inputs[0])
    if len(shape) != 4 or shape[0] != 1:
        raise Unsupported(f"its image must have shape (1, height, width, channels), not {shape}")
    pads = view.attribute("pad_amount", [0, 0, 0, 0])
    padded = emit_padding(emit, view.inputs[0], pads, float(view.attribute("pad_value", 0)))
    size = (shape[1] + pads[0] + pads[2], shape[2] + pads[1] + pads[3])
    _windows(view, emit, padded, size, _Windows(view, "kernel_size", "stride", "dilations"))
    view.prove_moved(*([view.attribute("pad_value", 0)] if any(pads) else []))


@rewrites(FINN, "ConvolutionInputGenerator")
def rewrite_window_generator(view: NodeView, emit: Emitter) -> None:
    """Write the windows of an image that is padded already.

    FINN's RTL gives depthwise windows by groups of SIMD channels, which its Python model of the backend does too.

    Raises:
        Unsupported: The model's batch is not 1.
    """
    shape = view.shape(view.inputs[0])
    if len(shape) != 4 or shape[0] != 1:
        raise Unsupported(f"its image must have shape (1, height, width, channels), not {shape}")
    _windows(view, emit, view.inputs[0], shape[1:3], _Windows(view, "ConvKernelDim", "Stride", "Dilation"))
    view.prove_moved()


@rewrites(FINN, "FMPadding")
def rewrite_padding(view: NodeView, emit: Emitter) -> None:
    """Write zeros around an image (N, H, W, C)."""
    padding = view.attribute("Padding", [1, 1, 1, 1])
    emit_padding(emit, view.inputs[0], padding, 0.0, view.outputs[0])
    view.prove_moved(0)


def emit_padding(emit: Emitter, x: str, pads: Sequence[int], value: float, output: str = "") -> str:
    """Write a border around (N, H, W, C): rows above, columns to the left, rows below, columns to the right."""
    if not any(pads):
        return emit.add("Identity", [x], output) if output else x
    amounts = emit.constant([0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0], "pads", np.int64)
    return emit.add("Pad", [x, amounts, emit.constant(value, "scalar")], output)


class _Windows:
    """Which pixels a kernel sees at each of its places."""

    def __init__(self, view: NodeView, kernel: str, stride: str, dilation: str) -> None:
        self.kernel = view.needed(kernel)
        self.stride = view.needed(stride)
        self.dilation = view.attribute(dilation, [1, 1])

    def pixels(self, size: Sequence[int]) -> np.ndarray[tuple[int, int, int, int], np.dtype[np.int32]]:
        """Return (OH, OW, KH, KW) numbers of pixels, counted row by row."""
        rows, columns = (self._along(axis, size[axis]) for axis in (0, 1))
        numbers = rows[:, None, :, None] * size[1] + columns[None, :, None, :]
        return numbers.astype(np.int32)

    def _along(self, axis: int, size: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        reach = self.dilation[axis] * (self.kernel[axis] - 1) + 1
        places = np.arange((size - reach) // self.stride[axis] + 1) * self.stride[axis]
        seen: np.ndarray[tuple[int, int], np.dtype[np.int64]] = (
            places[:, None] + np.arange(self.kernel[axis]) * self.dilation[axis]
        )
        return seen


def _windows(view: NodeView, emit: Emitter, x: str, size: Sequence[int], windows: _Windows) -> None:
    channels = view.shape(view.inputs[0])[3]
    pixels = windows.pixels(size)
    seen = _gathered(emit, x, size[0] * size[1], channels, pixels.reshape(-1))
    simd = view.attribute("SIMD", channels)
    if view.attribute("depthwise", 0) and view.node.op_type.endswith("_rtl") and simd != channels:
        places, window = pixels.shape[0] * pixels.shape[1], pixels.shape[2] * pixels.shape[3]
        apart = emit.reshaped(seen, (1, places, window, channels // simd, simd))
        seen = emit.add("Transpose", [apart], perm=[0, 1, 3, 2, 4])
    emit.reshaped(seen, view.shape(view.outputs[0]), view.outputs[0])


def _gathered(
    emit: Emitter, x: str, count: int, channels: int, pixels: np.ndarray[Any, np.dtype[np.int32]]
) -> str:
    """Write the choice of pixels, (1, pixels x channels) in the order of memory.

    A Gather copies block by block, so few channels are gathered with all runs of a value as one block.
    """
    if channels > _FEW:
        rows = emit.reshaped(x, (1, count, channels))
        return emit.add("Gather", [rows, emit.constant(pixels, "pixels", np.int32)], axis=1)
    values = (pixels[:, None] * channels + np.arange(channels)).reshape(-1)
    runs_last = emit.add("Transpose", [emit.reshaped(x, (1, count * channels))], perm=[1, 0])
    seen = emit.add("Gather", [runs_last, emit.constant(values, "pixels", np.int32)], axis=0)
    return emit.add("Transpose", [seen], perm=[1, 0])
