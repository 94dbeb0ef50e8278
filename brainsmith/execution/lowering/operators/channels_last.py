"""QONNX's operators with the channels last: ONNX's, between transpositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.convolutions import emit_convolution
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import arithmetic, shapes, windows
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import CHANNELS_LAST

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

Array = np.ndarray[Any, Any]


@lowers(CHANNELS_LAST, "Conv")
def conv(node: ProgramNode) -> None:
    """Convolve with constant weights (filters, *kernel, channels)."""
    weights = np.moveaxis(node.needed_constant(1, "weight"), -1, 1)
    _last(node, emit_convolution(node, _first(node), weights, _geometry(node)))


@lowers(CHANNELS_LAST, "MaxPool")
def max_pool(node: ProgramNode) -> None:
    """Take the greatest value of each window."""
    if node.attribute("ceil_mode", 0):
        raise Unsupported("its last windows are cut off")
    kernel = tuple(node.needed("kernel_shape"))
    made = node.emit(
        windows.pool, [_first(node)], kernel=kernel, **_geometry(node), average=False, count_padding=False
    )
    _last(node, made)
    node.prove_moved()
    if (
        node.span(node.inputs[0]) is None
    ):  # of whole numbers only a zero's sign is other, and QONNX takes long for these
        node.treats_ends_differently()


@lowers(CHANNELS_LAST, "BatchNormalization")
def batch_normalisation(node: ProgramNode) -> None:
    """Scale and shift each channel by constants, rounded as ONNX Runtime does."""
    if node.attribute("training_mode", 0):
        raise Unsupported("it is in training mode")
    what = ("scale", "bias", "mean", "variance")
    scale, bias, mean, variance = (node.needed_constant(at, name) for at, name in enumerate(what, 1))
    factor = scale / np.sqrt(variance + np.float32(node.attribute("epsilon", 1e-5)))
    held = [node.hold(np.asarray(one, np.float32)) for one in (factor, bias - mean * factor)]
    node.emit(arithmetic.scale_and_shift, [node.inputs[0], *held], node.outputs)


def _geometry(node: ProgramNode) -> dict[str, tuple[int, ...]]:
    axes = len(node.shape(node.inputs[0])) - 2
    pads = tuple(node.attribute("pads", (0,) * 2 * axes))
    return {
        "strides": tuple(node.attribute("strides", (1,) * axes)),
        "dilations": tuple(node.attribute("dilations", (1,) * axes)),
        "before": pads[:axes],
        "after": pads[axes:],
    }


def _first(node: ProgramNode) -> str:
    rank = len(node.shape(node.inputs[0]))
    return node.emit(shapes.transpose, node.inputs[:1], order=(0, rank - 1, *range(1, rank - 1)))


def _last(node: ProgramNode, made: str) -> None:
    rank = len(node.shape(node.outputs[0]))
    node.emit(shapes.transpose, [made], node.outputs, order=(0, *range(2, rank), 1))
