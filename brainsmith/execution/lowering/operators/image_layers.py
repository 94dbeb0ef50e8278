"""Windows, pooling and padding of images with the channels last: QONNX's operators and FINN's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.products import type_of_bound
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import images, reductions, shapes, windows
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

IMAGE = 4
"""Axes of an image: (N, H, W, C)."""

NO_PADDING = (0, 0, 0, 0)

EXACT_MEANS = 1 << 22
"""Sums below this are what their mean, rounded to float32, times the count is rounded to."""


@lowers(QONNX, "Im2Col")
def im2col(node: ProgramNode) -> None:
    """Give windows, position by position."""
    pads = tuple(node.attribute("pad_amount", NO_PADDING))
    fill = node.attribute("pad_value", 0)
    if pads != NO_PADDING and not _allows(node.datatype(node.inputs[0]), fill):
        raise Unsupported("its padding is no value of its datatype")
    dilations = tuple(node.attribute("dilations", (1, 1)))
    _slide(node, node.needed("kernel_size"), node.needed("stride"), dilations, pads, fill)


@lowers(FINN, "ConvolutionInputGenerator")
def sliding_window(node: ProgramNode) -> None:
    """Give windows: position by position, or as depthwise RTL does, some channels at a time."""
    in_rtl = node.op_type.endswith("_rtl") and node.attribute("depthwise", 0)
    lanes = node.needed("SIMD") if in_rtl else 0
    dilations = node.needed("Dilation")
    _slide(node, node.needed("ConvKernelDim"), node.needed("Stride"), dilations, NO_PADDING, 0, lanes)


def _slide(
    node: ProgramNode,
    kernel: Any,
    strides: Any,
    dilations: Any,
    pads: tuple[int, ...],
    fill: int,
    lanes: int = 0,
) -> None:
    if len(node.shape(node.inputs[0])) != IMAGE:
        raise Unsupported("its input is no image")
    node.emit(
        images.slide,
        node.inputs,
        node.outputs,
        kernel=tuple(kernel),
        strides=tuple(strides),
        dilations=tuple(dilations),
        before=pads[:2],
        after=pads[2:],
        fill=fill,
        lanes=lanes,
    )
    node.prove_moved(*([fill] if any(pads) else []))


def _allows(datatype: str, value: int) -> bool:
    from qonnx.core.datatype import DataType

    return bool(DataType[datatype].allowed(value))


@lowers(FINN, "Pool")
def pool(node: ProgramNode) -> None:
    """Reduce each window, which in RTL comes some channels at a time; a quantised mean as the hardware does."""
    channels, function = node.needed("Channels"), node.needed("Function")
    if function not in ("MaxPool", "AccPool", "AvgPool", "QuantAvgPool"):
        raise Unsupported(f"its function is {function}")
    source, lanes = node.inputs[0], node.attribute("PE", 1)
    if node.op_type.endswith("_rtl") and lanes != channels:
        source = node.emit(images.gather_channels, [source], channels=channels, lanes=lanes)
    size = node.shape(node.inputs[0])[-1] // channels
    shift = node.attribute("Size", 0) if function == "QuantAvgPool" else 0
    span = node.span(node.inputs[0])
    made = node.emit(images.pool_windows, [source], channels=channels, kind=function, shift=shift)
    emit_reshaped(node, made)
    if function == "MaxPool":
        node.prove_moved()
    elif span is not None and function != "AvgPool":
        node.prove(node.outputs[0], span[0] * size >> shift, span[1] * size >> shift)


@lowers(QONNX, "MaxPoolNHWC")
def max_pool(node: ProgramNode) -> None:
    """Take the greatest value of each window."""
    pads = tuple(node.needed("pads"))
    kernel, strides = tuple(node.needed("kernel_shape")), tuple(node.needed("strides"))
    given, wanted = node.shape(node.inputs[0])[1:3], node.shape(node.outputs[0])[1:3]
    reach = [(count - 1) * step + size for count, step, size in zip(wanted, strides, kernel, strict=True)]
    after = tuple(max(r - n - p, 0) for r, n, p in zip(reach, given, pads, strict=False))
    moved = node.emit(shapes.transpose, node.inputs, order=(0, 3, 1, 2))
    pooled = node.emit(
        windows.pool,
        [moved],
        kernel=kernel,
        strides=strides,
        dilations=(1, 1),
        before=pads[:2],
        after=after,
        average=False,
        count_padding=False,
    )
    node.emit(shapes.transpose, [pooled], node.outputs, order=(0, 2, 3, 1))
    node.prove_moved()
    if (
        node.span(node.inputs[0]) is None
    ):  # of whole numbers only a zero's sign is other, and QONNX takes long for these
        node.treats_ends_differently()


@lowers(QONNX, "QuantAvgPool2d")
def quantised_mean(node: ProgramNode) -> None:
    """Sum each window and shift: the mean that QONNX takes, rounded back to the sum."""
    span = node.span(node.inputs[0])
    kernel, stride = node.needed("kernel"), node.needed("stride")
    largest = (2 ** node.needed("ibits") - 1) * kernel * kernel
    shift = max(largest.bit_length() - node.needed("obits"), 0)
    if span is None or kernel * kernel * max(map(abs, span)) >= EXACT_MEANS:
        raise Unsupported("its sums may not be exact")
    last = node.attribute("data_layout", "NCHW") == "NHWC"
    source = node.emit(shapes.transpose, node.inputs, order=(0, 3, 1, 2)) if last else node.inputs[0]
    means = node.emit(
        windows.pool,
        [source],
        kernel=(kernel, kernel),
        strides=(stride, stride),
        dilations=(1, 1),
        before=(0, 0),
        after=(0, 0),
        average=True,
        count_padding=False,
    )
    if last:
        means = node.emit(shapes.transpose, [means], order=(0, 2, 3, 1))
    node.emit(images.shift_sums, [means], node.outputs, count=kernel * kernel, shift=shift)
    low, high = (kernel * kernel * end >> shift for end in span)
    node.prove(node.outputs[0], low, high)


@lowers(FINN, "GlobalAccPool")
def sum_image(node: ProgramNode) -> None:
    """Sum the pixels of each channel."""
    shape, span = node.shape(node.inputs[0]), node.span(node.inputs[0])
    count = shape[1] * shape[2]
    exact = "float32" if span is None else type_of_bound(count * max(map(abs, span)))
    rows = node.emit(reductions.reduce, node.inputs, name="Sum", axes=(1,), keep=True, exact=exact)
    made = node.emit(reductions.reduce, [rows], name="Sum", axes=(2,), keep=True, exact=exact)
    emit_reshaped(node, made)
    if span is not None:
        node.prove(node.outputs[0], span[0] * count, span[1] * count)


@lowers(FINN, "FMPadding")
def pad(node: ProgramNode) -> None:
    """Surround images with 0."""
    top, left, bottom, right = node.needed("Padding")
    before, after = (0, top, left, 0), (0, bottom, right, 0)
    made = node.emit(shapes.pad, [node.inputs[0], ""], before=before, after=after, mode="constant")
    emit_reshaped(node, made)
    node.prove_moved(0)


@lowers(FINN, "FMPadding_Pixel")
def spread(node: ProgramNode) -> None:
    """Put 0 between pixels."""
    made = node.emit(images.spread_pixels, node.inputs, strides=tuple(node.needed("Stride")))
    emit_reshaped(node, made)
    node.prove_moved(0)
