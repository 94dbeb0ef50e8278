"""QONNX's quantisers: Quant, IntQuant, BipolarQuant, Trunc (both versions), FloatQuant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import quantisers
from brainsmith.execution.program.functions.rounding import ROUNDINGS, integer_limits
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import QONNX

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.lowering.program_node import ProgramNode

Array = np.ndarray[Any, Any]


@lowers(QONNX, "Quant", "IntQuant")
def quant(node: ProgramNode) -> None:
    """Scale, clip, round and scale back."""
    emit_quant(node, narrow=True)


def emit_quant(node: ProgramNode, narrow: bool, as_scale: Callable[[Array], Array] | None = None) -> None:
    """Emit a Quant, and prove integers where nothing is scaled.

    Args:
        node: Its inputs are x, scale, zero point and number of bits.
        narrow: Whether the range is, where the node does not state it.
        as_scale: Makes the scale of the second input; None takes it as it is.
    """
    scale, zero, bits = _parameters(node, ("scale", "zero point", "number of bits"))
    scale = scale if as_scale is None else as_scale(scale)
    signed, narrow = bool(node.attribute("signed", 1)), bool(node.attribute("narrow", narrow))
    held = [node.hold(one) for one in (scale, zero, bits)]
    rounding = _rounding(node, "ROUND")
    node.emit(
        quantisers.quant,
        [node.inputs[0], *held],
        node.outputs,
        signed=signed,
        narrow=narrow,
        rounding=rounding,
    )
    if not (np.all(scale == 1) and np.all(zero == 0)):
        return
    if signed and bits == 1:
        node.prove(node.outputs[0], -1, 1, bipolar=True)
    elif node.span(node.inputs[0]) is not None:  # else it may be NaN, which stays
        low, high = integer_limits(bits.reshape(()), signed, narrow)
        node.prove(node.outputs[0], float(low), float(high))


@lowers(QONNX, "BipolarQuant")
def bipolar_quant(node: ProgramNode) -> None:
    """Take the sign of each value, times a scale."""
    emit_bipolar_quant(node)


def emit_bipolar_quant(node: ProgramNode) -> None:
    """Emit the signs of the first input, times the second."""
    (scale,) = _parameters(node, ("scale",))
    node.emit(quantisers.bipolar_quant, [node.inputs[0], node.hold(scale)], node.outputs)
    if np.all(scale == 1):
        node.prove(node.outputs[0], -1, 1, bipolar=True)


@lowers(QONNX, "Trunc")
def trunc(node: ProgramNode) -> None:
    """Drop the last bits of integers with a scale."""
    rounding = _rounding(node, "FLOOR")
    if node.opset < 2:
        scale, zero, given, kept = _parameters(node, ("scale", "zero point", "bits", "bits of the output"))
        step = np.asarray(2.0 ** (given - kept), np.float32)
        held = [node.hold(one) for one in (scale, zero, step)]
        node.emit(quantisers.trunc, [node.inputs[0], *held], node.outputs, rounding=rounding)
        return
    what = ("scale", "zero point", "bits", "scale of the output", "bits of the output")
    scale, zero, _, out_scale, kept = _parameters(node, what)
    held = [node.hold(one) for one in (scale, zero, kept, out_scale)]
    node.emit(
        quantisers.trunc_to_scale,
        [node.inputs[0], *held],
        node.outputs,
        signed=bool(node.attribute("signed", 1)),
        narrow=bool(node.attribute("narrow", 0)),
        rounding=rounding,
    )


@lowers(QONNX, "FloatQuant")
def float_quant(node: ProgramNode) -> None:
    """Round to floats of few bits, times a scale."""
    what = ("scale", "exponent's bits", "mantissa's bits", "exponent's bias", "greatest value")
    scale, exponent_bits, mantissa_bits, bias, greatest = _parameters(node, what)
    if any(one.size != 1 for one in (exponent_bits, mantissa_bits, bias, greatest)):
        raise Unsupported("its format is not the same for all values")
    held = [node.hold(one) for one in (scale, mantissa_bits.reshape(()), bias.reshape(()))]
    most = np.minimum(_greatest_float(exponent_bits, mantissa_bits, bias), greatest)
    overflow = "greatest"
    if not node.attribute("saturation", 1):
        overflow = "infinity" if node.attribute("has_inf", 0) else "nan"
        if overflow == "nan" and not node.attribute("has_nan", 0):
            raise Unsupported("it neither saturates nor has infinity or NaN")
    node.emit(
        quantisers.float_quant,
        [node.inputs[0], *held, node.hold(np.asarray(most).reshape(()))],
        node.outputs,
        rounding=_rounding(node, "ROUND"),
        overflow=overflow,
    )


def _greatest_float(exponent_bits: Array, mantissa_bits: Array, bias: Array) -> Any:
    """Return the greatest number of a format of which no code is kept for infinity or NaN."""
    fraction = np.sum(2.0 ** np.arange(0, -1.0 * mantissa_bits.item() - 1.0, -1.0))
    return fraction * (2 ** ((2.0**exponent_bits) - 1.0 - bias))


def _parameters(node: ProgramNode, names: tuple[str, ...]) -> list[Array]:
    """Return the constants behind the tensor, and refuse those that would add an axis to it."""
    found = [node.needed_constant(at, name) for at, name in enumerate(names, start=1)]
    shape = node.shape(node.inputs[0])
    for name, value in zip(names, found, strict=True):
        if "bits" in name and value.size != 1:
            raise Unsupported(f"its {name} differ between values")
        if np.broadcast_shapes(shape, value.shape) != shape or value.dtype != np.float32:
            raise Unsupported(f"its {name} changes the shape or the type of the result")
    return found


def _rounding(node: ProgramNode, default: str) -> str:
    mode = str(node.attribute("rounding_mode", default)).upper()
    if mode not in ROUNDINGS:
        raise Unsupported(f"its rounding mode is {mode!r}")
    return mode
