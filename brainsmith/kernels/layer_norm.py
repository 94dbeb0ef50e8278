"""LayerNorm: normalisation over the last axis, without scale and bias."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.layernorm import LayerNorm as FinnLayerNorm
from onnx import TensorProto

from brainsmith.execution.program.functions import whole_rows
from brainsmith.kernels.integer_layer_norm import IntegerLayerNorm
from brainsmith.kernels.row_kernel import RowKernel, rounded_down, whole
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

PIPELINE_FILL = 36
"""Cycles through the floating-point units of both reductions (FINN+ 1.6.1, LayerNorm_rtl)."""

_OFF = 4
"""More than an estimate of a root is off by."""


@kernel(
    name="LayerNorm",
    description="Normalise over the last axis to mean 0 and variance 1",
    tags=("normalisation", "transformer"),
)
class LayerNormKernel(RowKernel, FinnLayerNorm):
    """`(x - mean(x)) / sqrt(variance(x) + epsilon)` over the last axis.

    FINN's LayerNorm with a Python execution that needs no torch, and with cycles. Input: any shape
    (`ifm_dim`), channels last; output: the same shape. Scale and bias are Mul and Add nodes after it
    (InferLayerNorm puts them there). `SIMD` elements of a row are taken per cycle; it divides the last dimension.

    With `outputDataType` FLOAT32 the input has any QONNX datatype. With INTn, input and output are integers: the
    output has `fraction_bits` bits after the point, `epsilon` is that of the integers, and IntegerLayerNorm
    says what is computed, bit for bit.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, the length of a row (folding wants to know it), and the output's fraction."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        attributes["NumChannels"] = ("i", False, 0)
        attributes["fraction_bits"] = ("i", False, 0)
        return attributes

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

    def compute_floats(self, values: npt.NDArray[Any]) -> Any:
        """Normalise rows of floats."""
        return whole_rows.normalise_floats(values, epsilon=self.get_nodeattr("epsilon"))

    def to_program(self, node: ProgramNode) -> None:
        """Normalise rows, of integers by integers."""
        if not self.is_integer():
            epsilon = float(self.get_nodeattr("epsilon"))
            node.emit(whole_rows.normalise_floats, node.inputs, node.outputs, epsilon=epsilon)
            return
        arithmetic = self.arithmetic_in(node)
        node.emit(whole_rows.normalise_rows, node.inputs, node.outputs, **arithmetic.numbers())
        limit = 1 << (arithmetic.output_bits - 1)
        node.prove(node.outputs[0], -limit, limit - 1)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write rows with mean 0 and variance 1, of integers by the greatest integer below an inverse root."""
        x, axis = node.inputs[0], [len(node.shape(node.inputs[0])) - 1]
        if self.is_integer():
            self._integers_to_onnx(node, emit, axis)
            return
        count = emit.constant(node.shape(x)[-1], "count", np.float64)
        epsilon = emit.constant(self.get_nodeattr("epsilon"), "epsilon", np.float64)
        wide = emit.add("Cast", [x], to=TensorProto.DOUBLE)
        mean = emit.add("Div", [emit.sum_over(wide, axis, keep=True), count])
        centred = emit.add("Sub", [wide, mean])
        squares = emit.sum_over(emit.add("Mul", [centred, centred]), axis, keep=True)
        deviation = emit.add("Sqrt", [emit.add("Add", [emit.add("Div", [squares, count]), epsilon])])
        emit.add("Cast", [emit.add("Div", [centred, deviation])], node.outputs[0], to=TensorProto.FLOAT)

    def _integers_to_onnx(self, node: NodeView, emit: Emitter, axis: list[int]) -> None:
        arithmetic = self.arithmetic_in(node)
        values = emit.add("Cast", node.inputs, to=TensorProto.INT64)
        total = emit.sum_over(values, axis, keep=True)
        squares = emit.sum_over(emit.add("Mul", [values, values]), axis, keep=True)
        scaled = whole(emit, "Mul", arithmetic.size, squares)
        spread = emit.add("Sub", [scaled, emit.add("Mul", [total, total])])
        deviation = whole(emit, "Add", arithmetic.epsilon_term, spread)
        root = _inverse_root(emit, deviation, arithmetic.shift, arithmetic.root_bits)
        centred = emit.add("Sub", [whole(emit, "Mul", arithmetic.size, values), total])
        product = emit.add("Mul", [centred, root])
        rounded = rounded_down(emit, product, arithmetic.shift - arithmetic.fraction_bits)
        limit = 1 << (arithmetic.output_bits - 1)
        ends = [emit.constant(end, "limit") for end in (-limit, limit - 1)]
        floats = emit.add("Cast", [rounded], to=TensorProto.FLOAT)
        emit.add("Clip", [floats, *ends], node.outputs[0])
        node.prove(node.outputs[0], -limit, limit - 1)

    def float_cycles(self, rows: int, beats: int) -> int:
        """Return the beats, and the fill of the two reductions, a row each."""
        tree = 4 * math.ceil(math.log2(self.get_nodeattr("SIMD")))
        return rows * beats + 2 * beats + tree + PIPELINE_FILL


def _inverse_root(emit: Emitter, deviation: str, shift: int, root_bits: int) -> str:
    """Write floor(2^shift / sqrt(d)), at most what fits in so many bits; that of 0 is that of 1.

    An estimate in double precision is off by a few at most. What is left, 4^shift - root^2 d, then tells which
    way: it fits in 64 bits, although its terms need not, so it is computed modulo 2^64.
    """
    most = (1 << root_bits) - 1
    one = int(np.uint64(pow(4, shift, 1 << 64)).view(np.int64))
    zero, up, down = (emit.constant(value, "whole", np.int64) for value in (0, 1, -1))
    d = emit.add("Max", [deviation, up])
    inverse = emit.add("Sqrt", [emit.add("Cast", [d], to=TensorProto.DOUBLE)])
    estimate = emit.add("Floor", [emit.add("Div", [emit.constant(2.0**shift, "power", np.float64), inverse])])
    clipped = emit.add("Greater", [estimate, emit.constant(most + _OFF, "most", np.float64)])
    nearest = emit.add("Min", [estimate, emit.constant(most + _OFF, "most", np.float64)])
    root = emit.add("Cast", [nearest], to=TensorProto.INT64)
    for _ in range(_OFF):
        square = emit.add("Mul", [emit.add("Mul", [root, root]), d])
        left = whole(emit, "Sub", one, square)
        enough = emit.add("Mul", [whole(emit, "Add", 1, whole(emit, "Mul", 2, root)), d])
        rising = emit.add("Where", [emit.at_least(left, enough), up, zero])
        step = emit.add("Where", [emit.add("Less", [left, zero]), down, rising])
        root = emit.add("Add", [root, emit.add("Where", [clipped, zero, step])])
    return emit.add("Min", [root, emit.constant(most, "most", np.int64)])
