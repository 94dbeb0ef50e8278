"""LayerNorm: normalisation over the last axis, without scale and bias."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.layernorm import LayerNorm as FinnLayerNorm

from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto

PIPELINE_FILL = 36
"""Cycles through the floating-point units of both reductions (FINN+ 1.6.1, LayerNorm_rtl)."""


@kernel(
    name="LayerNorm",
    description="Normalise over the last axis to mean 0 and variance 1",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    tags=("normalisation", "transformer"),
    domain="brainsmith.kernels",
)
class LayerNormKernel(FinnLayerNorm):
    """`(x - mean(x)) / sqrt(variance(x) + epsilon)` over the last axis.

    FINN's LayerNorm with a Python execution that needs no torch, and with cycles. Input: any shape
    (`ifm_dim`), channels last, any QONNX datatype; output: the same shape, FLOAT32. Scale and bias are Mul
    and Add nodes behind it (InferLayerNorm puts them there). `SIMD` elements of a row are taken per cycle; it
    divides the last dimension.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, and the length of a row: folding wants to know what SIMD can divide."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        attributes["NumChannels"] = ("i", False, 0)
        return attributes

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Compute the rows in double precision and round the result once to float32."""
        node = self.onnx_node
        rows = context[node.input[0]].astype(np.float64)
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        normal = centred / np.sqrt(variance + self.get_nodeattr("epsilon"))
        context[node.output[0]] = normal.astype(np.float32)

    def get_exp_cycles(self) -> int:
        """Return the cycles of one input: its beats, and the fill of the two reductions, a row each."""
        simd = self.get_nodeattr("SIMD")
        shape = self.get_normal_input_shape()
        tree = 4 * math.ceil(math.log2(simd)) if simd > 1 else 0
        return int(np.prod(shape) // simd + 2 * (shape[-1] // simd) + tree + PIPELINE_FILL)
