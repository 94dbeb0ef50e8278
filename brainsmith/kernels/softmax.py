"""Softmax over the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.hwsoftmax import HWSoftmax
from qonnx.core.datatype import DataType

from brainsmith.errors import ModelError
from brainsmith.kernels.integer_softmax import IntegerSoftmax
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.datatype import BaseDataType

PIPELINE_FILL = 30
"""Cycles through exponential and division (FINN+ 1.6.1, HWSoftmax_hls)."""


@kernel(
    name="Softmax",
    description="Softmax over the last axis",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    tags=("activation", "transformer"),
    domain="brainsmith.kernels",
)
class SoftmaxKernel(HWSoftmax):
    """`exp(x) / sum(exp(x))` over the last axis, with the row's maximum subtracted first.

    FINN's HWSoftmax with cycles of its own. Input: any shape (`ifm_dim`), channels last; output: the same
    shape. `SIMD` elements of a row are taken per cycle; it divides the last dimension.

    With `outputDataType` FLOAT32 (the default) the input has any QONNX datatype that has a zero. With UINTn, input
    and output are integers: an input counts `scale`, the output has `fraction_bits` bits behind the point, and
    IntegerSoftmax says what is computed, bit for bit.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, and those of integers."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        attributes["outputDataType"] = ("s", False, "FLOAT32")
        attributes["fraction_bits"] = ("i", False, 0)
        attributes["scale"] = ("f", False, 1.0)
        return attributes

    def get_input_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype that the node states; FINN's raises for those without a zero."""
        return DataType[self.get_nodeattr("input_data_type")]

    def get_output_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype that the node states."""
        return DataType[self.get_nodeattr("outputDataType")]

    def is_integer(self) -> bool:
        """Tell whether the output is integers."""
        return bool(self.get_output_datatype().is_integer())

    def arithmetic(self) -> IntegerSoftmax:
        """Return which integers are computed.

        Raises:
            ModelError: The integers do not fit, or a softmax of integers cannot have the datatypes.
        """
        arithmetic, problem = self.try_arithmetic()
        if problem:
            raise ModelError(f"node '{self.onnx_node.name}' ({self.onnx_node.op_type}): {problem}")
        return arithmetic

    def try_arithmetic(self) -> tuple[IntegerSoftmax, str]:
        """Return the integer arithmetic, and why it is not possible; an empty text if it is."""
        taken, given = self.get_input_datatype(), self.get_output_datatype()
        arithmetic = IntegerSoftmax(
            size=int(self.get_normal_input_shape()[-1]),
            low=int(taken.min()),
            high=int(taken.max()),
            scale=float(self.get_nodeattr("scale")),
            fraction_bits=self.get_nodeattr("fraction_bits"),
            output_bits=given.bitwidth(),
        )
        if not taken.is_integer() or taken.name in ("BIPOLAR", "TERNARY"):
            return arithmetic, f"its input is {taken.name}, and it takes INTn and UINTn"
        if not given.is_integer() or given.signed():
            return arithmetic, f"its output is {given.name}, and probabilities are UINTn"
        return arithmetic, arithmetic.problem

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Compute integers as the hardware does, floats in double precision with one rounding to float32."""
        node = self.onnx_node
        if self.is_integer():
            context[node.output[0]] = self.arithmetic().compute(context[node.input[0]]).astype(np.float32)
            return
        rows = context[node.input[0]].astype(np.float64)
        powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
        context[node.output[0]] = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)

    def get_exp_cycles(self) -> int:
        """Return the cycles of one input.

        Integers: each row takes as long as its beats or its division, whichever is longer; the pipeline holds several
        rows. Floats: the beats, two stalls per row, and the fill of two rows.
        """
        simd = self.get_nodeattr("SIMD")
        shape = self.get_normal_input_shape()
        size = int(np.prod(shape))
        if self.is_integer():
            return int(size // shape[-1] * max(shape[-1] // simd, self.arithmetic().serial_cycles))
        return int(size // simd + 2 * (size // shape[-1]) + 2 * (shape[-1] // simd) + PIPELINE_FILL)
