"""Quant, BipolarQuant and Trunc of QONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.execution.standard_onnx.rounding import emit_rounding
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import QONNX

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

Array = np.ndarray[Any, Any]


@rewrites(QONNX, "Quant", "IntQuant")
def rewrite_quant(view: NodeView, emit: Emitter) -> None:
    """Write round(clip(x / scale + zero point)), and back again.

    Source: `int_quant` of QONNX, step by step in float32, so that every step rounds as there.

    Raises:
        Unsupported: The bit width or a parameter's type changes, or a parameter is not float32.
    """
    scale, zero = _parameter(view, 1, "scale"), _parameter(view, 2, "zero point")
    bits = _scalar(view, 3, "bit width")
    signed, narrow = bool(view.attribute("signed", 1)), bool(view.attribute("narrow", 1))
    x = _scaled(emit, view.inputs[0], view.inputs[1], scale)
    x = _shifted(emit, "Add", x, view.inputs[2], zero)
    if bits == 1 and signed:
        low, high = -1.0, 1.0
        x = _signs(emit, x)
    else:
        low, high = _bounds(bits, signed=signed, narrow=narrow)
        x = _clipped(emit, x, low, high)
        x = emit_rounding(emit, x, view.attribute("rounding_mode", "ROUND"))
    x = _shifted(emit, "Sub", x, view.inputs[2], zero)
    _times(emit, x, view.inputs[1], scale, view.outputs[0])
    _note_span(view, low, high, scale, zero)


@rewrites(QONNX, "BipolarQuant")
def rewrite_bipolar_quant(view: NodeView, emit: Emitter) -> None:
    """Write scale where x >= 0, and -scale elsewhere.

    Raises:
        Unsupported: The scale is not float32.
    """
    scale = _parameter(view, 1, "scale")
    _times(emit, _signs(emit, view.inputs[0]), view.inputs[1], scale, view.outputs[0])
    _note_span(view, -1, 1, scale, np.zeros((), np.float32))


@rewrites(QONNX, "Trunc")
def rewrite_trunc(view: NodeView, emit: Emitter) -> None:
    """Write the dropping of least significant bits.

    Source: `trunc_v1` and `trunc_v2` of QONNX; which one, says the version of the imported operator set.

    Raises:
        Unsupported: A bit width or a scale changes, or a parameter is not float32.
    """
    scale, zero = _parameter(view, 1, "scale"), _parameter(view, 2, "zero point")
    second = view.opset >= 2
    if second:
        if scale is None or zero is None:
            raise Unsupported("its scale and zero point must be constants, but are computed")
        output_scale = view.needed_constant(4, "output scale")
        shrink: Array = 2 ** np.round(np.log2(output_scale / scale))
    else:
        dropped = _scalar(view, 3, "bit width") - _scalar(view, 4, "output bit width")
        shrink = np.asarray(2.0**dropped, np.float32)
    x = _scaled(emit, view.inputs[0], view.inputs[1], scale)
    x = _shifted(emit, "Add", x, view.inputs[2], zero)
    x = emit.add("Round", [x])
    x = _divided(emit, x, np.asarray(shrink, np.float32))
    if second:
        signed, narrow = bool(view.attribute("signed", 1)), bool(view.attribute("narrow", 0))
        x = _clipped(emit, x, *_bounds(_scalar(view, 5, "output bit width"), signed=signed, narrow=narrow))
    x = emit_rounding(emit, x, view.attribute("rounding_mode", "FLOOR"))
    if second:
        assert zero is not None
        back = np.asarray(zero / shrink, np.float32)
        x = _shifted(emit, "Sub", x, emit.constant(back, "zero_point"), back)
        emit.add("Mul", [x, view.inputs[4]], view.outputs[0])
    else:
        x = _shifted(emit, "Sub", x, view.inputs[2], zero)
        _times(emit, x, view.inputs[1], scale, view.outputs[0])


def _parameter(view: NodeView, at: int, what: str) -> Array | None:
    """Return a parameter's value; None if it is computed, in float32 like everything that is."""
    value = view.constant(at)
    if value is not None and value.dtype != np.float32:
        raise Unsupported(f"its {what} must be of float32, not {value.dtype}")
    return value


def _scalar(view: NodeView, at: int, what: str) -> float:
    value = view.needed_constant(at, what)
    if value.size != 1:
        raise Unsupported(f"its {what} must be one number, not {value.size}")
    return float(value.reshape(()))


def _bounds(bits: float, *, signed: bool, narrow: bool) -> tuple[float, float]:
    """Return the least and greatest integer of so many bits, in QONNX's reading of narrow."""
    if signed:
        return -(2 ** (bits - 1)) + narrow, 2 ** (bits - 1) - 1
    return 0.0, 2**bits - 1 - narrow


def _signs(emit: Emitter, x: str) -> str:
    positive = emit.at_least(x, emit.constant(0.0, "scalar"))
    return emit.add("Where", [positive, emit.constant(1.0, "scalar"), emit.constant(-1.0, "scalar")])


def _clipped(emit: Emitter, x: str, low: float, high: float) -> str:
    return emit.add("Clip", [x, emit.constant(low, "scalar"), emit.constant(high, "scalar")])


def _scaled(emit: Emitter, x: str, name: str, scale: Array | None) -> str:
    if scale is None:
        return emit.add("Div", [x, name])
    return _divided(emit, x, scale)


def _divided(emit: Emitter, x: str, by: Array) -> str:
    """Divide; by a power of two this is a product with its inverse, bit for bit, and faster."""
    if np.all(by == 1):
        return x
    parts, exponents = np.frexp(by)
    if np.all(parts == 0.5) and np.all(np.abs(exponents) < 100):
        return emit.add("Mul", [x, emit.constant(1 / by, "scale")])
    return emit.add("Div", [x, emit.constant(by, "scale")])


def _shifted(emit: Emitter, op_type: str, x: str, name: str, by: Array | None) -> str:
    return x if by is not None and np.all(by == 0) else emit.add(op_type, [x, name])


def _times(emit: Emitter, x: str, name: str, scale: Array | None, output: str) -> None:
    if scale is not None and np.all(scale == 1) and scale.size == 1:
        emit.add("Identity", [x], output)
    else:
        emit.add("Mul", [x, name], output)


def _note_span(view: NodeView, low: float, high: float, scale: Array | None, zero: Array | None) -> None:
    if scale is None or zero is None or low != np.rint(low) or high != np.rint(high):
        return
    ends = np.stack([(low - zero) * scale, (high - zero) * scale])
    if np.array_equal(scale, np.rint(scale)) and np.array_equal(zero, np.rint(zero)):
        view.prove(view.outputs[0], float(ends.min()), float(ends.max()))
