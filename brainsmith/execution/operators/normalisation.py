"""Normalisation of each channel by constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.one_instruction import OneInstruction
from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import arithmetic
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import CHANNELS_LAST, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


class ScaledChannels(Apart, OneInstruction):
    """A product and a sum for each channel."""

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Copy ONNX's own, and write a product and a sum of QONNX's."""
        if node.family == STANDARD:
            super().to_onnx(node, emit)
            return
        factors, offsets = (emit.constant(values, "scale") for values in self.inputs[1:])
        emit.add("Add", [emit.add("Mul", [node.inputs[0], factors]), offsets], node.outputs[0])


@reads(STANDARD, "BatchNormalization")
@reads(CHANNELS_LAST, "BatchNormalization")
def batch_normalisation(node: NodeView) -> ScaledChannels:
    """Read one, rounded as ONNX Runtime does.

    Raises:
        Unsupported: It is in training mode, or a parameter is computed.
    """
    if node.attribute("training_mode", 0) or any(node.outputs[1:]):
        raise Unsupported("it is in training mode")
    what = ("scale", "bias", "mean", "variance")
    scale, bias, mean, variance = (node.needed_constant(at, name) for at, name in enumerate(what, 1))
    deviation = np.sqrt(variance + np.float32(node.attribute("epsilon", 1e-5)))
    factors = scale * (np.float32(1) / deviation)
    behind = (1,) * (0 if node.family == CHANNELS_LAST else len(node.shape(node.inputs[0])) - 2)
    held = [
        np.asarray(values, np.float32).reshape(-1, *behind) for values in (factors, bias - mean * factors)
    ]
    return ScaledChannels(arithmetic.scale_and_shift, [node.inputs[0], *held])
