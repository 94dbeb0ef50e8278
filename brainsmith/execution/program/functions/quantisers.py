"""What QONNX's quantisers compute: Quant, BipolarQuant, Trunc (both versions) and FloatQuant, in every bit.

All are elementwise; scales and zero points have at most as many axes as the tensor, and broadcast. All passes of a
quantiser go over a few runs that fit in a cache, then over the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions.rounding import ROUNDINGS, integer_limits
from brainsmith.execution.program.table import instruction

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

PIECE = 1 << 16
"""Elements that go through all passes of a quantiser together."""


@instruction
def quant(
    x: Array,
    scale: Array,
    zero_point: Array,
    bits: Array,
    *,
    signed: bool,
    narrow: bool,
    rounding: str,
) -> Array:
    """Round values to integers of so many bits, times a scale: `(round(clip(x / scale + zero)) - zero) * scale`.

    One signed bit gives -1 and 1, times the scale. NaN stays NaN. (QONNX 1.0, Quant.)

    Args:
        x: Float32.
        scale: Broadcast to the tensor.
        zero_point: Likewise.
        bits: One number.
        signed: Whether the integers are.
        narrow: Whether the integer without a counterpart is left out.
        rounding: A key of ROUNDINGS.
    """
    low, high = integer_limits(bits.reshape(()), signed, narrow)
    bipolar = signed and float(bits.reshape(())) == 1
    rounded = ROUNDINGS[rounding]

    def piece(part: Array, by: Array, zero: Array, out: Array) -> None:
        np.divide(part, by, out=out)
        np.add(out, zero, out=out)
        if bipolar:
            np.copyto(out, np.where(out >= 0, np.float32(1), np.float32(-1)))
        else:
            np.minimum(out, np.float32(high), out=out)
            np.maximum(out, np.float32(low), out=out)
            rounded(out, out=out)
        np.subtract(out, zero, out=out)
        np.multiply(out, by, out=out)

    return _in_pieces(piece, x, scale, zero_point)


@instruction
def bipolar_quant(x: Array, scale: Array) -> Array:
    """Return the scale where x >= 0, and its negative elsewhere, so also for NaN (QONNX 1.0)."""

    def piece(part: Array, by: Array, out: Array) -> None:
        np.copyto(out, part >= 0)
        np.multiply(out, 2, out=out)
        np.subtract(out, 1, out=out)
        np.multiply(out, by, out=out)

    return _in_pieces(piece, x, scale)


@instruction
def trunc(x: Array, scale: Array, zero_point: Array, step: Array, *, rounding: str) -> Array:
    """Drop the last bits of integers with a scale: `(round(rint(x / scale + zero) / step) - zero) * scale`.

    (QONNX 1.0, Trunc of opset 1.)

    Args:
        x: Float32.
        scale: Broadcast to the tensor.
        zero_point: Likewise.
        step: The power of two that is divided by.
        rounding: A key of ROUNDINGS.
    """
    rounded = ROUNDINGS[rounding]

    def piece(part: Array, by: Array, zero: Array, step: Array, out: Array) -> None:
        _in_units(part, by, zero, step, out)
        rounded(out, out=out)
        np.subtract(out, zero, out=out)
        np.multiply(out, by, out=out)

    return _in_pieces(piece, x, scale, zero_point, step)


@instruction
def trunc_to_scale(
    x: Array,
    scale: Array,
    zero_point: Array,
    bits: Array,
    out_scale: Array,
    *,
    signed: bool,
    narrow: bool,
    rounding: str,
) -> Array:
    """Drop the last bits of integers with a scale, for a scale of the output, and clip them to its range.

    They are divided by the power of two next to the scales' ratio. (QONNX 1.0, Trunc of opset 2.)

    Args:
        x: Float32.
        scale: Of the input; broadcast to the tensor.
        zero_point: Of the input; likewise.
        bits: Of the output; one number.
        out_scale: Of the output.
        signed: Whether the output's integers are.
        narrow: Whether the integer without a counterpart is left out.
        rounding: A key of ROUNDINGS.
    """
    low, high = integer_limits(bits.reshape(()), signed, narrow)
    rounded = ROUNDINGS[rounding]
    step = 2 ** np.rint(np.log2(out_scale / scale))

    def piece(part: Array, by: Array, zero: Array, step: Array, after: Array, out: Array) -> None:
        _in_units(part, by, zero, step, out)
        np.copyto(out, high, where=out > high)
        np.copyto(out, low, where=out < low)  # where `maximum` may give a 0 the other sign
        rounded(out, out=out)
        np.subtract(out, zero / step, out=out)
        np.multiply(out, after, out=out)

    return _in_pieces(piece, x, scale, zero_point, step, out_scale)


@instruction
def float_quant(
    x: Array,
    scale: Array,
    mantissa_bits: Array,
    exponent_bias: Array,
    greatest: Array,
    *,
    rounding: str,
    overflow: str,
) -> Array:
    """Round values to floats of few bits, times a scale (QONNX 1.0).

    Args:
        x: Float32.
        scale: Broadcast to the tensor.
        mantissa_bits: Of the floats, one number.
        exponent_bias: Of the floats, one number.
        greatest: The greatest of them.
        rounding: A key of ROUNDINGS.
        overflow: What is greater becomes: `greatest`, `infinity` or `nan`.
    """
    rounded = ROUNDINGS[rounding]
    least_exponent = 1.0 - exponent_bias - mantissa_bits

    def piece(part: Array, by: Array, out: Array) -> None:
        np.divide(part, by, out=out)
        unit = np.floor(np.log2(np.abs(out) + np.finfo(out.dtype).tiny)) - mantissa_bits
        unit = np.exp2(np.maximum(unit, least_exponent))
        values = unit * rounded(out / unit, out=out)
        above, below = values > greatest, values < -greatest
        values = np.clip(values, -greatest, greatest)
        if overflow == "infinity":
            values[above], values[below] = np.inf, -np.inf
        elif overflow == "nan":
            values[above | below] = np.nan
        np.multiply(values, by, out=out)

    return _in_pieces(piece, x, scale)


def _in_units(part: Array, by: Array, zero: Array, step: Array, out: Array) -> None:
    """Write whole numbers of scales, from the zero point on, divided by a step."""
    np.divide(part, by, out=out)
    np.add(out, zero, out=out)
    np.rint(out, out=out)
    np.divide(out, step, out=out)


def _in_pieces(piece: Callable[..., None], x: Array, *parameters: Array) -> Array:
    """Run a function that writes to `out` over x, a few runs at a time."""
    out = np.empty(x.shape, np.float32)
    runs = max(PIECE // max(x[:1].size, 1), 1)
    with np.errstate(all="ignore"):
        for at in range(0, len(x), runs):
            piece(x[at : at + runs], *parameters, out=out[at : at + runs])
    return out
