"""Dropping the last bits of integers: both versions of Trunc of QONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.operator import ByValue
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.operators.scaled import (
    Integers,
    divided,
    emit_rounding,
    emit_units,
    emit_values,
    hold_parameters,
    integers_of,
    number,
    parameter,
    rounding_of,
    shifted,
)
from brainsmith.execution.program.functions import quantisers
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import QONNX

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class Truncation(ByValue):
    """`(round(rint(x / scale + zero) / step) - zero) * scale`: the last bits of integers with a scale are dropped.

    With a scale of the output, the step is the power of two next to the ratio of both, and integers are clipped.
    Source: `trunc_v1` and `trunc_v2` of QONNX.

    Attributes:
        scale: Broadcast to the tensor; None if it is computed.
        zero: Likewise.
        step: The power of two that is divided by.
        rounding: A key of ROUNDINGS.
        out_scale: Of the output; None if it has that of the input.
        integers: Of an output with a scale of its own.
    """

    scale: Array | None
    zero: Array | None
    step: Array
    rounding: str
    out_scale: Array | None = None
    integers: Integers | None = None

    def to_program(self, node: ProgramNode) -> None:
        """Emit one instruction."""
        scale, zero, step = hold_parameters(node, self.scale, self.zero, self.step)
        given, limits = [node.inputs[0], scale, zero, step, zero, scale], None
        if self.integers is not None:
            _, out_scale = hold_parameters(node, self.integers.bits, self.out_scale)
            given[4:], limits = [node.hold(self.out_zero), out_scale], self.integers.limits
        node.emit(quantisers.trunc, given, node.outputs, limits=limits, rounding=self.rounding)

    @property
    def out_zero(self) -> Array:
        """The zero point of an output with a scale of its own."""
        return np.asarray(self.zero / self.step, np.float32)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write it step by step."""
        x = emit.add("Round", [emit_units(node, emit, self.scale, self.zero)])
        x = divided(emit, x, self.step)
        if self.integers is not None:
            x = self.integers.emit_clip(emit, x)
        x = emit_rounding(emit, x, self.rounding)
        if self.integers is None:
            emit_values(node, emit, x, self.scale, self.zero)
            return
        x = shifted(emit, "Sub", x, emit.constant(self.out_zero, "zero_point"), self.out_zero)
        emit.add("Mul", [x, node.inputs[4]], node.outputs[0])


@reads(QONNX, "Trunc")
def trunc(node: NodeView) -> Truncation:
    """Read one; the version of the imported operator set says whether the output has a scale of its own."""
    scale, zero = parameter(node, 1, "scale"), parameter(node, 2, "zero point")
    rounding = rounding_of(node, "FLOOR")
    if node.opset < 2:
        dropped = number(node, 3, "bit width") - number(node, 4, "output bit width")
        return Truncation(scale, zero, np.asarray(2.0**dropped, np.float32), rounding)
    if scale is None or zero is None:
        raise Unsupported("its scale and zero point must be constants, but are computed")
    out_scale = node.needed_constant(4, "output scale")
    step = np.asarray(2 ** np.round(np.log2(out_scale / scale)), np.float32)
    integers = integers_of(node, 5, "output bit width", narrow=False)
    return Truncation(scale, zero, step, rounding, out_scale, integers)
