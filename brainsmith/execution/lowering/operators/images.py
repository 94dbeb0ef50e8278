"""Lower convolutions, pooling and resizing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.convolutions import emit_convolution
from brainsmith.execution.lowering.program_node import ProgramNode
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import reductions, shapes, windows
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    Shape = tuple[int, ...]


@lowers("", "Conv")
def conv(node: ProgramNode) -> None:
    """Convolve with constant weights."""
    weights = node.needed_constant(1, "weight")
    if weights.dtype != np.float32:
        raise Unsupported(f"its type is {weights.dtype}")
    image = node.shape(node.inputs[0])
    geometry = _geometry(node, image[2:], weights.shape[2:])
    emit_convolution(node, node.inputs[0], weights, geometry, node.outputs[0])


@lowers("", "MaxPool", "AveragePool")
def pool(node: ProgramNode) -> None:
    """Take the largest or the mean of each window."""
    average = node.op_type == "AveragePool"
    if len([name for name in node.outputs if name]) > 1:
        raise Unsupported("it gives places")
    if average:
        node.rounds_differently()
    image = node.shape(node.inputs[0])
    kernel = tuple(node.attributes["kernel_shape"])
    geometry = _geometry(node, image[2:], kernel)
    if node.attribute("ceil_mode", 0):
        if average:
            raise Unsupported("its last windows are cut off")
        geometry["after"] = _after_ceiling(node.shape(node.outputs[0])[2:], image[2:], kernel, geometry)
    node.emit(
        windows.pool,
        node.inputs,
        node.outputs,
        kernel=kernel,
        **geometry,
        average=average,
        count_padding=bool(node.attribute("count_include_pad", 0)),
    )
    if not average:
        node.prove_moved()
        node.treats_ends_differently()


def _after_ceiling(size: Shape, image: Shape, kernel: Shape, geometry: dict[str, Any]) -> Shape:
    """Return the padding that the stated number of windows needs."""
    parts = zip(
        size, image, kernel, geometry["strides"], geometry["dilations"], geometry["before"], strict=True
    )
    return tuple(
        max(0, (count - 1) * stride + (taps - 1) * dilation + 1 - before - pixels)
        for count, pixels, taps, stride, dilation, before in parts
    )


@lowers("", "GlobalMaxPool", "GlobalAveragePool")
def global_pool(node: ProgramNode) -> None:
    """Take the largest or the mean of each channel."""
    axes = tuple(range(2, len(node.shape(node.inputs[0]))))
    average = node.op_type == "GlobalAveragePool"
    if average:
        node.rounds_differently()
    name = "Mean" if average else "Max"
    node.emit(reductions.reduce, node.inputs, node.outputs, name=name, axes=axes, keep=True, exact="float32")
    if not average:
        node.prove_moved()
        node.treats_ends_differently()


@lowers("", "Resize", "Upsample")
def resize(node: ProgramNode) -> None:
    """Repeat pixels: the nearest one, by whole factors."""
    before, after = node.shape(node.inputs[0]), node.shape(node.outputs[0])
    if node.attribute("mode", "nearest") != "nearest" or any(
        n % o for o, n in zip(before, after, strict=True)
    ):
        raise Unsupported("it does not repeat pixels")
    placed = node.attribute("coordinate_transformation_mode", "half_pixel")
    rounded = node.attribute("nearest_mode", "round_prefer_floor")
    plain = (
        (node.op_type == "Upsample") or placed == "half_pixel" or (placed, rounded) == ("asymmetric", "floor")
    )
    if not plain or (placed == "half_pixel" and rounded in ("floor", "ceil") and node.op_type == "Resize"):
        raise Unsupported("its pixels are placed in another way")
    held = []
    for old, new in zip(before, after, strict=True):
        held.append("" if old == new else node.hold(np.arange(new) // (new // old)))
    node.emit(shapes.resample, [node.inputs[0], *held], node.outputs)
    node.prove_moved()


def _geometry(node: ProgramNode, image: Shape, kernel: Shape) -> dict[str, Any]:
    """Return strides, dilations and padding of a window operator."""
    rank = len(kernel)
    strides = tuple(node.attribute("strides", (1,) * rank))
    dilations = tuple(node.attribute("dilations", (1,) * rank))
    pads = tuple(node.attribute("pads", (0,) * (2 * rank)))
    auto = node.attribute("auto_pad", "NOTSET")
    before, after = pads[:rank], pads[rank:]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        total = [
            max(0, (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size)
            for size, taps, stride, dilation in zip(image, kernel, strides, dilations, strict=True)
        ]
        small, large = tuple(size // 2 for size in total), tuple(size - size // 2 for size in total)
        before, after = (small, large) if auto == "SAME_UPPER" else (large, small)
    elif auto == "VALID":
        before = after = (0,) * rank
    if min((*before, *after), default=0) < 0:
        raise Unsupported("its padding is negative")
    return {"strides": strides, "dilations": dilations, "before": before, "after": after}
