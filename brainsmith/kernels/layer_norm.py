"""LayerNorm: normalisation over the last axis, without scale and bias."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.layernorm import LayerNorm as FinnLayerNorm

from brainsmith.errors import ModelError
from brainsmith.kernels.integer_layer_norm import IntegerLayerNorm
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
    (`ifm_dim`), channels last; output: the same shape. Scale and bias are Mul and Add nodes behind it
    (InferLayerNorm puts them there). `SIMD` elements of a row are taken per cycle; it divides the last dimension.

    With `outputDataType` FLOAT32 the input has any QONNX datatype. With INTn, input and output are integers: the
    output has `fraction_bits` bits behind the point, `epsilon` is that of the integers, and IntegerLayerNorm
    says what is computed, bit for bit.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, the length of a row (folding wants to know it), and the output's fraction."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        attributes["NumChannels"] = ("i", False, 0)
        attributes["fraction_bits"] = ("i", False, 0)
        return attributes

    def is_integer(self) -> bool:
        """Tell whether the output is integers."""
        return bool(self.get_output_datatype().is_integer())

    def arithmetic(self) -> IntegerLayerNorm:
        """Return which integers are computed.

        Raises:
            ModelError: They do not fit in 64 bits, or the input or the output has a datatype that is not supported.
        """
        arithmetic, problem = self.try_arithmetic()
        if problem:
            raise ModelError(f"node '{self.onnx_node.name}' ({self.onnx_node.op_type}): {problem}")
        return arithmetic

    def try_arithmetic(self) -> tuple[IntegerLayerNorm, str]:
        """Return the integer arithmetic, and why it is not possible; an empty text if it is."""
        taken, given = self.get_input_datatype(), self.get_output_datatype()
        arithmetic = IntegerLayerNorm(
            size=int(self.get_normal_input_shape()[-1]),
            low=int(taken.min()),
            high=int(taken.max()),
            fraction_bits=self.get_nodeattr("fraction_bits"),
            output_bits=given.bitwidth(),
            epsilon=float(self.get_nodeattr("epsilon")),
        )
        if not taken.is_integer() or taken.name in ("BIPOLAR", "TERNARY"):
            return arithmetic, f"its input must be INTn or UINTn, not {taken.name}"
        if not given.is_integer() or not given.signed():
            return arithmetic, f"its output must be INTn, not {given.name}"
        return arithmetic, arithmetic.problem

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Compute integers as the hardware does, floats in double precision with one rounding to float32."""
        node = self.onnx_node
        if self.is_integer():
            context[node.output[0]] = self.arithmetic().compute(context[node.input[0]]).astype(np.float32)
            return
        rows = context[node.input[0]].astype(np.float64)
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        normal = centred / np.sqrt(variance + self.get_nodeattr("epsilon"))
        context[node.output[0]] = normal.astype(np.float32)

    def get_exp_cycles(self) -> int:
        """Return the cycles of one input.

        Integers: each row takes as long as its beats or its root, whichever is longer; the pipeline holds several
        rows. Floats: the beats, and the fill of the two reductions, a row each.
        """
        simd = self.get_nodeattr("SIMD")
        shape = self.get_normal_input_shape()
        size = int(np.prod(shape))
        if self.is_integer():
            return int(size // shape[-1] * max(shape[-1] // simd, self.arithmetic().serial_cycles))
        tree = 4 * math.ceil(math.log2(simd)) if simd > 1 else 0
        return int(size // simd + 2 * (shape[-1] // simd) + tree + PIPELINE_FILL)
