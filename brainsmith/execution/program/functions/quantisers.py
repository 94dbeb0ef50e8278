"""What QONNX's quantisers compute: Quant, BipolarQuant, Trunc (both versions) and FloatQuant, in every bit.

All are elementwise; scales and zero points have at most as many axes as the tensor, and broadcast. All passes of a
quantiser go over a few runs that fit in a cache, then over the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS
from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable


PIECE = 1 << 16
"""Elements that go through all passes of a quantiser together."""


@instruction
def quant(
    x: Array, scale: Array, zero_point: Array, *, limits: tuple[float, float] | None, rounding: str
) -> Array:
    """Round values to integers, times a scale: `(round(clip(x / scale + zero)) - zero) * scale`.

    NaN stays NaN. (QONNX 1.0, Quant.)

    Args:
        x: Float32.
        scale: Broadcast to the tensor.
        zero_point: Likewise.
        limits: The least and the greatest integer; None takes -1 and 1, by the sign.
        rounding: A key of ROUNDINGS.
    """
    rounded = ROUNDINGS[rounding]

    def piece(part: Array, by: Array, zero: Array, out: Array) -> None:
        np.divide(part, by, out=out)
        np.add(out, zero, out=out)
        if limits is None:
            np.copyto(out, np.where(out >= 0, np.float32(1), np.float32(-1)))
        else:
            np.minimum(out, np.float32(limits[1]), out=out)
            np.maximum(out, np.float32(limits[0]), out=out)
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
def trunc(
    x: Array,
    scale: Array,
    zero_point: Array,
    step: Array,
    out_zero: Array,
    out_scale: Array,
    *,
    limits: tuple[float, float] | None,
    rounding: str,
) -> Array:
    """Drop the last bits of integers: `(round(clip(rint(x / scale + zero) / step)) - out_zero) * out_scale`.

    (QONNX 1.0, Trunc of opsets 1 and 2.)

    Args:
        x: Float32.
        scale: Of the input; broadcast to the tensor.
        zero_point: Of the input; likewise.
        step: The power of two that is divided by.
        out_zero: The zero point of the output.
        out_scale: Of the output.
        limits: The least and the greatest integer of the output; None does not clip.
        rounding: A key of ROUNDINGS.
    """
    rounded = ROUNDINGS[rounding]

    def piece(
        part: Array, by: Array, zero: Array, step: Array, back: Array, after: Array, out: Array
    ) -> None:
        np.divide(part, by, out=out)
        np.add(out, zero, out=out)
        np.rint(out, out=out)
        np.divide(out, step, out=out)
        if limits is not None:  # where `minimum` and `maximum` may give a 0 the other sign
            np.copyto(out, limits[1], where=out > limits[1])
            np.copyto(out, limits[0], where=out < limits[0])
        rounded(out, out=out)
        np.subtract(out, back, out=out)
        np.multiply(out, after, out=out)

    return _in_pieces(piece, x, scale, zero_point, step, out_zero, out_scale)


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


@instruction
def quantise_linear(x: Array, scale: Array, zero_point: Array) -> Any:
    """Return the integers, of the zero point's type, that are next to x in units of the scale (ONNX, QuantizeLinear)."""
    limits = np.iinfo(zero_point.dtype)
    with np.errstate(all="ignore"):
        levels = np.rint(x / scale) + zero_point.astype(np.float32)
        return np.clip(levels, limits.min, limits.max).astype(zero_point.dtype)


@instruction
def dequantise_linear(x: Array, scale: Array, zero_point: Array) -> Any:
    """Return the floats that integers stand for (ONNX, DequantizeLinear)."""
    return (x.astype(np.float32) - zero_point.astype(np.float32)) * scale


def _in_pieces(piece: Callable[..., None], x: Array, *parameters: Array) -> Array:
    """Run a function that writes to `out` over x, a few runs at a time."""
    out = np.empty(x.shape, np.float32)
    runs = max(PIECE // max(x[:1].size, 1), 1)
    with np.errstate(all="ignore"):
        for at in range(0, len(x), runs):
            piece(x[at : at + runs], *parameters, out=out[at : at + runs])
    return out
