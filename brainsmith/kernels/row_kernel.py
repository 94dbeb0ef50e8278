"""What kernels share that compute along the last axis: of rows of integers by integers, or of rows of floats."""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp

from brainsmith.errors import ModelError
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

    Array = npt.NDArray[Any]


class RowKernel(HWCustomOp):
    """Put it before FINN's kernel among the bases: `class SoftmaxKernel(RowKernel, HWSoftmax)`."""

    @abstractmethod
    def try_arithmetic(self) -> tuple[Any, str]:
        """Return the integer arithmetic, and why it is not possible; an empty text if it is."""

    def is_integer(self) -> bool:
        """Tell whether the output is integers."""
        return bool(self.get_output_datatype().is_integer())

    def arithmetic(self) -> Any:
        """Return which integers are computed.

        Raises:
            ModelError: They do not fit, or the input or the output has a datatype that is not supported.
        """
        arithmetic, problem = self.try_arithmetic()
        if problem:
            raise ModelError(f"node '{self.onnx_node.name}' ({self.onnx_node.op_type}): {problem}")
        return arithmetic

    @abstractmethod
    def compute_floats(self, values: Array) -> Any:
        """Compute rows of floats in double precision, with one rounding to float32."""

    @abstractmethod
    def float_cycles(self, rows: int, beats: int) -> int:
        """Return the cycles of one input of floats: how many rows it has, and the beats of each."""

    def execute_node(self, context: dict[str, Array], graph: GraphProto) -> None:
        """Compute integers as the hardware does, floats in double precision with one rounding to float32."""
        compute = self.arithmetic().compute if self.is_integer() else self.compute_floats
        context[self.onnx_node.output[0]] = compute(context[self.onnx_node.input[0]])

    def get_exp_cycles(self) -> int:
        """Return the cycles of one input.

        Of integers each row takes as long as its beats or its serial unit, whichever is longer; the pipeline holds
        several rows.
        """
        *rows, size = self.get_normal_input_shape()
        beats = size // self.get_nodeattr("SIMD")
        if self.is_integer():
            return int(prod(rows) * max(beats, self.arithmetic().serial_cycles))
        return self.float_cycles(prod(rows), beats)

    def arithmetic_in(self, node: NodeView) -> Any:
        """Return the same in a graph, where the input must be proved to lie within its datatype.

        Raises:
            Unsupported: It is not, or the integers cannot be computed; the kernel says why when it runs.
        """
        arithmetic, problem = self.try_arithmetic()
        span = node.span(node.inputs[0])
        if problem or span is None or not arithmetic.low <= span[0] <= span[1] <= arithmetic.high:
            raise Unsupported(problem or "its input may be outside of its datatype")
        return arithmetic

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: nothing, because each row is computed by itself."""
        return ""


def whole(emit: Emitter, op_type: str, first: int, second: str) -> str:
    """Write an operator of an integer and a tensor, both of 64 bits."""
    return emit.add(op_type, [emit.constant(first, "whole", np.int64), second])


def rounded_down(emit: Emitter, x: str, bits: int) -> str:
    """Write (x + half) >> bits; the remainder is never negative, so the quotient is rounded towards minus infinity."""
    raised = whole(emit, "Add", 1 << (bits - 1), x)
    divisor = emit.constant(1 << bits, "whole", np.int64)
    multiple = emit.add("Sub", [raised, emit.add("Mod", [raised, divisor])])
    return emit.add("Div", [multiple, divisor])
