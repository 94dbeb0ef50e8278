"""Rounding to floats of few bits: FloatQuant of QONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.onnx.counting import emit_levels
from brainsmith.execution.operators.operator import ByValue
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.operators.scaled import emit_rounding, hold_parameters, number, rounding_of
from brainsmith.execution.program.functions import quantisers
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import QONNX

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class FloatQuantiser(ByValue):
    """`step * round(x / step)`, where the step is that of the value's binade, times a scale.

    Source: `float_quant` of QONNX.

    Attributes:
        scale: Broadcast to the tensor.
        mantissa: How many bits it has, one float.
        bias: Of the exponent, one float.
        greatest: The greatest of the floats.
        rounding: A key of ROUNDINGS.
        overflow: What is greater becomes: `greatest`, `infinity` or `nan`.
    """

    scale: Array
    mantissa: Array
    bias: Array
    greatest: Array
    rounding: str
    overflow: str

    def to_program(self, node: ProgramNode) -> None:
        """Emit one instruction."""
        held = hold_parameters(node, self.scale, self.mantissa, self.bias)
        node.emit(
            quantisers.float_quant,
            [node.inputs[0], *held, node.hold(self.greatest)],
            node.outputs,
            rounding=self.rounding,
            overflow=self.overflow,
        )

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write it step by step.

        The logarithm is looked up among the values from which on it is the next integer, so that it is QONNX's own also
        where its rounding moves a value to another binade.

        Raises:
            Unsupported: The scale is not one number, or values do not saturate.
        """
        if self.overflow != "greatest":
            raise Unsupported("its values become infinite or NaN instead of saturating")
        scale, largest = number(node, 1, "scale"), np.float32(self.greatest)
        x = emit.add("Div", [node.inputs[0], emit.constant(scale, "scale")]) if scale != 1 else node.inputs[0]
        size, step = emit.add("Abs", [x]), emit.fresh(node.outputs[0])
        for name in (size, step):
            node.facts.state_shape(name, node.shape(node.inputs[0]))
        mantissa = np.float32(self.mantissa)
        bounds, steps = _binades(np.float32(1 - self.bias - mantissa), mantissa, largest)
        emit_levels(node, emit, size, bounds, -1, steps, step)
        rounded = emit_rounding(emit, emit.add("Div", [x, step]), self.rounding)
        ends = [emit.constant(value, "scalar") for value in (-largest, largest)]
        kept = emit.add("Clip", [emit.add("Mul", [step, rounded]), *ends])
        emit.add("Mul", [kept, emit.constant(scale, "scale")], node.outputs[0])


@reads(QONNX, "FloatQuant")
def float_quant(node: NodeView) -> FloatQuantiser:
    """Read one, whose format is the same for all values."""
    what = ("exponent width", "mantissa width", "exponent bias", "largest value")
    exponent, mantissa, bias, stated = (number(node, at, name) for at, name in enumerate(what, 2))
    overflow = "greatest"
    if not node.attribute("saturation", 1):
        overflow = "infinity" if node.attribute("has_inf", 0) else "nan"
        if overflow == "nan" and not node.attribute("has_nan", 0):
            raise Unsupported("it neither saturates nor has infinity or NaN")
    fraction = np.sum(2.0 ** np.arange(0, -1.0 * mantissa.item() - 1.0, -1.0))
    greatest = np.minimum(
        fraction * 2 ** ((2.0**exponent) - 1.0 - bias), stated
    )  # no code is infinity or NaN
    scale, rounding = node.needed_constant(1, "scale"), rounding_of(node, "ROUND")
    return FloatQuantiser(scale, mantissa, bias, np.asarray(greatest), rounding, overflow)


def _binades(least: np.float32, mantissa: np.float32, largest: np.float32) -> tuple[Array, Array]:
    """Return the sizes (1, T) at which the step doubles, and the T + 1 steps.

    Beyond the largest value all is cut, whichever step it had.
    """
    first = int(np.ceil(least + mantissa))
    last = max(first, int(np.floor(np.log2(largest))) + 1)
    bounds = [_reaches(exponent) for exponent in range(first + 1, last + 1)]
    exponents = np.maximum(np.arange(first, last + 1, dtype=np.float32) - mantissa, least)
    return np.asarray([bounds], np.float32).reshape(1, -1), np.exp2(exponents).astype(np.float32)


def _reaches(exponent: int) -> np.float32:
    """Return the least float whose logarithm, as QONNX takes it, is at least an exponent."""
    value = np.float32(2.0**exponent)
    for _ in range(8):
        below = np.nextafter(value, np.float32(0))
        if np.log2(below + np.finfo(np.float32).tiny) < exponent:
            break
        value = below
    return value
