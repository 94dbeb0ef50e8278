"""What quantisers share: they compute in units of a scale, from a zero point on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS, integer_limits
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


_DIRECT = {"ROUND": "Round", "HALF_EVEN": "Round", "CEIL": "Ceil", "FLOOR": "Floor"}

_AWAY_AND_BACK: dict[str, tuple[float, str]] = {
    "UP": (0.0, "Ceil"), "DOWN": (0.0, "Floor"), "HALF_UP": (0.5, "Floor"), "HALF_DOWN": (-0.5, "Ceil"),
}  # fmt: skip
"""What is added to the size, and how it is rounded then; the sign is put back at the end."""


@dataclass(frozen=True)
class Integers:
    """Which integers there are.

    Attributes:
        bits: How many, one float; its arithmetic rounds as QONNX's does.
        signed: Two's complement.
        narrow: Without the least one if signed, without the greatest one if not.
    """

    bits: Array
    signed: bool
    narrow: bool

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest."""
        low, high = integer_limits(self.bits, self.signed, self.narrow)
        return float(low), float(high)

    def emit_clip(self, emit: Emitter, x: str) -> str:
        """Write that a tensor is clipped to them."""
        return emit.add("Clip", [x, *(emit.constant(limit, "scalar") for limit in self.limits)])


def rounding_of(node: NodeView, default: str) -> str:
    """Return which rounding mode a node states: a key of ROUNDINGS.

    Raises:
        Unsupported: There is no such mode.
    """
    mode = str(node.attribute("rounding_mode", default)).upper()
    if mode not in ROUNDINGS:
        raise Unsupported(f"its rounding mode must be one of {', '.join(sorted(ROUNDINGS))}, not {mode!r}")
    return mode


def number(node: NodeView, at: int, what: str) -> Array:
    """Return an input that is one constant number.

    Raises:
        Unsupported: It is not.
    """
    value = node.needed_constant(at, what)
    if value.size != 1:
        raise Unsupported(f"its {what} must be one number, not {value.size}")
    return value.reshape(())


def hold_parameters(node: ProgramNode, *parameters: Array | None) -> list[str]:
    """Hold constants, and refuse what would give a result of another shape or type than the tensor's.

    Raises:
        Unsupported: One is computed, or would.
    """
    shape = node.shape(node.inputs[0])
    held = []
    for value in parameters:
        if value is None:
            raise Unsupported("one of its parameters is computed")
        if np.broadcast_shapes(shape, value.shape) != shape or value.dtype != np.float32:
            raise Unsupported("one of its parameters changes the shape or the type of the result")
        held.append(node.hold(value))
    return held


def parameter(node: NodeView, at: int, what: str) -> Array | None:
    """Return a parameter's value; None if it is computed, in float32 like everything that is."""
    value = node.constant(at)
    if value is not None and value.dtype != np.float32:
        raise Unsupported(f"its {what} must be of float32, not {value.dtype}")
    return value


def integers_of(node: NodeView, at: int, what: str, narrow: bool) -> Integers:
    """Return which integers there are; `narrow` says whether the range is, where the node does not state it."""
    signed, narrow = bool(node.attribute("signed", 1)), bool(node.attribute("narrow", narrow))
    return Integers(number(node, at, what), signed, narrow)


def emit_units(node: NodeView, emit: Emitter, scale: Array | None, zero: Array | None) -> str:
    """Write how many scales the tensor is, from the zero point on."""
    x, name, offset = node.inputs[:3]
    x = emit.add("Div", [x, name]) if scale is None else divided(emit, x, scale)
    return shifted(emit, "Add", x, offset, zero)


def emit_values(node: NodeView, emit: Emitter, x: str, scale: Array | None, zero: Array | None) -> None:
    """Write the values of so many scales from the zero point on."""
    if zero is None or np.any(zero != 0):
        x = emit.add("Sub", [x, node.inputs[2]])
    plain = scale is not None and scale.size == 1 and np.all(scale == 1)
    emit.add(*("Identity", [x]) if plain else ("Mul", [x, node.inputs[1]]), node.outputs[0])


def divided(emit: Emitter, x: str, by: Array) -> str:
    """Divide; by a power of two this is a product with its inverse, bit for bit, and faster."""
    if np.all(by == 1):
        return x
    parts, exponents = np.frexp(by)
    if np.all(parts == 0.5) and np.all(np.abs(exponents) < 100):
        return emit.add("Mul", [x, emit.constant(1 / by, "scale")])
    return emit.add("Div", [x, emit.constant(by, "scale")])


def shifted(emit: Emitter, op_type: str, x: str, name: str, by: Array | None) -> str:
    """Write a sum or a difference, unless it is with 0."""
    return x if by is not None and np.all(by == 0) else emit.add(op_type, [x, name])


def emit_rounding(emit: Emitter, x: str, mode: str) -> str:
    """Write a rounding by one of the ROUNDINGS, and return the name of the result.

    Source of the modes: QONNX, `resolve_rounding_mode`.
    """
    if mode in _DIRECT:
        return emit.add(_DIRECT[mode], [x])
    shift, rounded = _AWAY_AND_BACK[mode]
    size = emit.affine(emit.add("Abs", [x]), 1.0, shift)
    return emit.add("Mul", [emit.add("Sign", [x]), emit.add(rounded, [size])])
