"""FloatQuant of QONNX: rounding to floats of few bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.standard_onnx.counting import emit_levels
from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.execution.standard_onnx.rounding import emit_rounding
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import QONNX

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

Array = np.ndarray[Any, Any]

_PARAMETERS = ("scale", "exponent width", "mantissa width", "exponent bias", "largest value")


@rewrites(QONNX, "FloatQuant")
def rewrite_float_quant(view: NodeView, emit: Emitter) -> None:
    """Write step * round(x / step), where the step is that of the value's binade, cut at the largest value.

    Source: `float_quant` of QONNX. The logarithm is looked up among the values from which on it is the next integer,
        so that it is QONNX's own also where its rounding moves a value to another binade.

    Raises:
        Unsupported: A parameter changes or is not one number, or values do not saturate.
    """
    if not view.attribute("saturation", 1):
        raise Unsupported("its values become infinite or NaN instead of saturating")
    scale, exponent, mantissa, bias, stated = (
        _scalar(view, at, what) for at, what in enumerate(_PARAMETERS, 1)
    )
    largest = min(_largest(exponent, mantissa, bias), stated)
    x = emit.add("Div", [view.inputs[0], emit.constant(scale, "scale")]) if scale != 1 else view.inputs[0]
    size = emit.add("Abs", [x])
    view.facts.state_shape(size, view.shape(view.inputs[0]))
    step = emit.fresh(view.outputs[0])
    view.facts.state_shape(step, view.shape(view.inputs[0]))
    bounds, steps = _binades(np.float32(1 - bias - mantissa), np.float32(mantissa), largest)
    emit_levels(view, emit, size, bounds, -1, steps, step)
    rounded = emit_rounding(emit, emit.add("Div", [x, step]), view.attribute("rounding_mode", "ROUND"))
    ends = [emit.constant(value, "scalar") for value in (-largest, largest)]
    kept = emit.add("Clip", [emit.add("Mul", [step, rounded]), *ends])
    emit.add("Mul", [kept, emit.constant(scale, "scale")], view.outputs[0])


def _scalar(view: NodeView, at: int, what: str) -> np.float32:
    value = view.needed_constant(at, what)
    if value.size != 1:
        raise Unsupported(f"its {what} must be one number, not {value.size}")
    return np.float32(value.reshape(()))


def _largest(exponent: np.float32, mantissa: np.float32, bias: np.float32) -> np.float32:
    parts = np.sum(2.0 ** np.arange(0, -1.0 * mantissa - 1.0, -1.0))
    return np.float32(parts * 2 ** ((2.0**exponent) - 1.0 - bias))


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
