"""QONNX's operators with the channels last: ONNX's, between transpositions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.convolutions import emit_convolution
from brainsmith.execution.operators.registry import Apart, reads
from brainsmith.execution.program.functions import arithmetic, shapes, windows
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import CHANNELS_LAST

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class _ChannelsLast(Apart):
    """ONNX's operator of the same name.

    Attributes:
        to_first: The order of the axes with the channels in axis 1.
        to_last: The order that takes them back.
    """

    to_first: Shape
    to_last: Shape

    def parameters(self, node: NodeView, emit: Emitter) -> list[str]:
        """Return the names of the inputs behind the image."""
        return list(node.inputs[1:])

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write it between two transposes."""
        image = emit.add("Transpose", node.inputs[:1], perm=self.to_first)
        result = emit.add(node.kind, [image, *self.parameters(node, emit)], **node.attributes)
        emit.add("Transpose", [result], node.outputs[0], perm=self.to_last)


@dataclass(frozen=True)
class Convolution(_ChannelsLast):
    """A convolution with constant weights.

    Attributes:
        weights: (filters, channels of a group, *kernel).
    """

    weights: Array

    def parameters(self, node: NodeView, emit: Emitter) -> list[str]:
        """Return the names of the inputs behind the image."""
        return [emit.constant(self.weights, "weights"), *node.inputs[2:]]

    def to_program(self, node: ProgramNode) -> None:
        """Convolve, exactly where both sides are whole numbers."""
        image = node.emit(shapes.transpose, node.inputs[:1], order=self.to_first)
        made = emit_convolution(node, image, self.weights, _geometry(node))
        node.emit(shapes.transpose, [made], node.outputs, order=self.to_last)


@dataclass(frozen=True)
class Maximum(_ChannelsLast):
    """The greatest value of each window."""

    def to_program(self, node: ProgramNode) -> None:
        """Pool.

        Raises:
            Unsupported: The last windows are cut off.
        """
        if node.attribute("ceil_mode", 0):
            raise Unsupported("its last windows are cut off")
        image = node.emit(shapes.transpose, node.inputs[:1], order=self.to_first)
        kernel = tuple(node.needed("kernel_shape"))
        stated = {"kernel": kernel, **_geometry(node), "average": False, "count_padding": False}
        made = node.emit(windows.pool, [image], **stated)
        node.emit(shapes.transpose, [made], node.outputs, order=self.to_last)
        node.prove_moved()
        if (
            node.span(node.inputs[0]) is None
        ):  # of whole numbers only a zero's sign is other, and QONNX takes long
            node.treats_ends_differently()

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write it between two transposes."""
        super().to_onnx(node, emit)
        node.prove_moved()


@dataclass(frozen=True)
class BatchNormalisation(_ChannelsLast):
    """Each channel scaled and shifted by constants."""

    def to_program(self, node: ProgramNode) -> None:
        """Scale and shift, rounded as ONNX Runtime does.

        Raises:
            Unsupported: It is in training mode, or a parameter is computed.
        """
        if node.attribute("training_mode", 0):
            raise Unsupported("it is in training mode")
        what = ("scale", "bias", "mean", "variance")
        scale, bias, mean, variance = (node.needed_constant(at, name) for at, name in enumerate(what, 1))
        factor = scale / np.sqrt(variance + np.float32(node.attribute("epsilon", 1e-5)))
        held = [node.hold(np.asarray(one, np.float32)) for one in (factor, bias - mean * factor)]
        node.emit(arithmetic.scale_and_shift, [node.inputs[0], *held], node.outputs)


@reads(CHANNELS_LAST, "Conv")
def convolution(node: NodeView) -> Convolution:
    """Read one, whose weights are (filters, *kernel, channels)."""
    return Convolution(*_orders(node), np.moveaxis(node.needed_constant(1, "weights"), -1, 1))


@reads(CHANNELS_LAST, "MaxPool")
def maximum(node: NodeView) -> Maximum:
    """Read one."""
    return Maximum(*_orders(node))


@reads(CHANNELS_LAST, "BatchNormalization")
def normalisation(node: NodeView) -> BatchNormalisation:
    """Read one."""
    return BatchNormalisation(*_orders(node))


def _orders(node: NodeView) -> tuple[Shape, Shape]:
    rank = len(node.shape(node.inputs[0]))
    return (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)


def _geometry(node: NodeView) -> dict[str, Shape]:
    axes = len(node.shape(node.inputs[0])) - 2
    pads = tuple(node.attribute("pads", (0,) * 2 * axes))
    return {
        "strides": tuple(node.attribute("strides", (1,) * axes)),
        "dilations": tuple(node.attribute("dilations", (1,) * axes)),
        "before": pads[:axes],
        "after": pads[axes:],
    }
