"""Windows of images with the channels last: Im2Col, ConvolutionInputGenerator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import images
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

Pair = tuple[int, int]

IMAGE = 4
"""Axes of an image: (N, H, W, C)."""

NO_PADDING = (0, 0, 0, 0)

_FEW = 4
"""Channels that ONNX Runtime gathers faster with all runs of a value as one block."""


@dataclass(frozen=True)
class Windows(Apart):
    """The window of each output pixel: (N, rows, columns, positions * channels).

    Attributes:
        kernel: Height and width of a window; as all that follow, rows first.
        strides: Between windows.
        dilations: Between the positions of a window.
        padding: Rows above, columns to the left, rows below, columns to the right.
        fill: What the padding holds.
        lanes: 0 for position by position, all channels of each; else so many channels at a time, all positions of
            each, as a depthwise sliding window in RTL gives them.
    """

    kernel: Pair
    strides: Pair
    dilations: Pair
    padding: tuple[int, ...] = NO_PADDING
    fill: int = 0
    lanes: int = 0

    def to_program(self, node: ProgramNode) -> None:
        """Emit one instruction.

        Raises:
            Unsupported: The padding is no value of the input's datatype; QONNX says so.
        """
        if self.padding != NO_PADDING and not node.facts.datatype(node.inputs[0]).allowed(self.fill):
            raise Unsupported("its datatype does not hold the value of its padding")
        node.emit(
            images.slide, node.inputs, node.outputs,
            kernel=self.kernel, geometry=(self.strides, self.dilations, self.padding[:2], self.padding[2:]),
            fill=self.fill, lanes=self.lanes,
        )  # fmt: skip
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write that pixels are gathered.

        Raises:
            Unsupported: The model's batch is not 1: QONNX's own execution then mixes its images.
        """
        shape = node.shape(node.inputs[0])
        if shape[0] != 1:
            raise _no_image(shape)
        top, left, below, right = self.padding
        height, width, channels = shape[1] + top + below, shape[2] + left + right, shape[3]
        pixels = self._pixels(height, width)
        padded = emit_padding(emit, node.inputs[0], self.padding, float(self.fill))
        seen = _gathered(emit, padded, height * width, channels, pixels.reshape(-1))
        if self.lanes not in (0, channels):
            places, window = pixels.shape[0] * pixels.shape[1], pixels.shape[2] * pixels.shape[3]
            apart = emit.reshaped(seen, (1, places, window, channels // self.lanes, self.lanes))
            seen = emit.add("Transpose", [apart], perm=[0, 1, 3, 2, 4])
        emit.reshaped(seen, node.shape(node.outputs[0]), node.outputs[0])
        self._prove(node)

    def _pixels(self, height: int, width: int) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Return (OH, OW, KH, KW) numbers of pixels, counted row by row."""
        rows, columns = (self._along(axis, size) for axis, size in enumerate((height, width)))
        return np.asarray(rows[:, None, :, None] * width + columns[None, :, None, :], np.int32)

    def _along(self, axis: int, size: int) -> np.ndarray[Any, Any]:
        reach = self.dilations[axis] * (self.kernel[axis] - 1) + 1
        places = np.arange((size - reach) // self.strides[axis] + 1) * self.strides[axis]
        return np.asarray(places[:, None] + np.arange(self.kernel[axis]) * self.dilations[axis])

    def _prove(self, node: NodeView) -> None:
        node.prove_moved(*([self.fill] if any(self.padding) else []))


@reads(QONNX, "Im2Col")
def im2col(node: NodeView) -> Windows:
    """Read one."""
    return _windows(
        node, "kernel_size", "stride", "dilations",
        padding=tuple(node.attribute("pad_amount", NO_PADDING)), fill=node.attribute("pad_value", 0),
    )  # fmt: skip


@reads(FINN, "ConvolutionInputGenerator")
def sliding_window(node: NodeView) -> Windows:
    """Read one; FINN's RTL gives depthwise windows by groups of SIMD channels, and so does its Python model then."""
    in_rtl = node.op_type.endswith("_rtl") and node.attribute("depthwise", 0)
    return _windows(node, "ConvKernelDim", "Stride", "Dilation", lanes=node.needed("SIMD") if in_rtl else 0)


def _windows(node: NodeView, kernel: str, stride: str, dilation: str, **stated: Any) -> Windows:
    shape = node.shape(node.inputs[0])
    if len(shape) != IMAGE:
        raise _no_image(shape)
    dilations = tuple(node.attribute(dilation, (1, 1)))
    return Windows(tuple(node.needed(kernel)), tuple(node.needed(stride)), dilations, **stated)


def _no_image(shape: tuple[int, ...]) -> Unsupported:
    return Unsupported(f"its image must have shape (1, height, width, channels), not {shape}")


def emit_padding(emit: Emitter, x: str, pads: tuple[int, ...], value: float, output: str = "") -> str:
    """Write a border around (N, H, W, C): rows above, columns to the left, rows below, columns to the right."""
    if not any(pads):
        return emit.add("Identity", [x], output) if output else x
    amounts = emit.constant([0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0], "pads", np.int64)
    return emit.add("Pad", [x, amounts, emit.constant(value, "scalar")], output)


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
