"""Softmax over the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.hwsoftmax import HWSoftmax
from onnx import TensorProto
from qonnx.core.datatype import DataType

from brainsmith.execution.program.functions import whole_rows
from brainsmith.kernels.integer_softmax import IntegerSoftmax
from brainsmith.kernels.row_kernel import RowKernel, rounded_down, whole
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from qonnx.core.datatype import BaseDataType

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

PIPELINE_FILL = 30
"""Cycles through exponential and division (FINN+ 1.6.1, HWSoftmax_hls)."""


@kernel(
    name="Softmax",
    description="Softmax over the last axis",
    tags=("activation", "transformer"),
)
class SoftmaxKernel(RowKernel, HWSoftmax):
    """`exp(x) / sum(exp(x))` over the last axis, with the row's maximum subtracted first.

    FINN's HWSoftmax with cycles of its own. Input: any shape (`ifm_dim`), channels last; output: the same
    shape. `SIMD` elements of a row are taken per cycle; it divides the last dimension.

    With `outputDataType` FLOAT32 (the default) the input has any QONNX datatype that has a zero. With UINTn, input
    and output are integers: an input counts `scale`, the output has `fraction_bits` bits after the point, and
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

    def compute_floats(self, values: npt.NDArray[Any]) -> Any:
        """Return the softmax of rows of floats."""
        return whole_rows.soften_floats(values, wide=True)

    def to_program(self, node: ProgramNode) -> None:
        """Divide powers by their sum; the powers of integers are looked up."""
        if not self.is_integer():
            node.emit(whole_rows.soften_floats, node.inputs, node.outputs, wide=True)
            return
        arithmetic = self.arithmetic_in(node)
        node.emit(
            whole_rows.soften_rows,
            [node.inputs[0], node.hold(np.asarray(arithmetic.table, np.int64))],
            node.outputs,
            **arithmetic.numbers(),
        )
        node.prove(node.outputs[0], 0, (1 << arithmetic.output_bits) - 1)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write powers divided by their sum; the powers of integers are looked up."""
        x, output, axis = node.inputs[0], node.outputs[0], [len(node.shape(node.inputs[0])) - 1]
        if not self.is_integer():
            wide = emit.add("Cast", [x], to=TensorProto.DOUBLE)
            powers = emit.add("Exp", [emit.add("Sub", [wide, emit.maximum_over(wide, axis, keep=True)])])
            total = emit.sum_over(powers, axis, keep=True)
            emit.add("Cast", [emit.add("Div", [powers, total])], output, to=TensorProto.FLOAT)
            return
        arithmetic = self.arithmetic_in(node)
        table = np.asarray(arithmetic.table, np.int64)
        below = emit.add("Sub", [emit.maximum_over(x, axis, keep=True), x])
        last = emit.constant(len(table) - 1, "last")
        place = emit.add("Cast", [emit.add("Min", [below, last])], to=TensorProto.INT64)
        found = emit.looked_up(table, place, node.shape(x))
        reciprocal = whole(emit, "Div", 1 << arithmetic.shift, emit.sum_over(found, axis, keep=True))
        scaled = emit.add("Mul", [found, reciprocal])
        rounded = rounded_down(emit, scaled, arithmetic.shift - arithmetic.fraction_bits)
        highest = (1 << arithmetic.output_bits) - 1
        floats = emit.add("Cast", [rounded], to=TensorProto.FLOAT)
        emit.add("Min", [floats, emit.constant(highest, "most")], output)
        node.prove(output, 0, highest)

    def float_cycles(self, rows: int, beats: int) -> int:
        """Return the beats, two stalls per row, and the fill of two rows."""
        return rows * beats + 2 * rows + 2 * beats + PIPELINE_FILL
