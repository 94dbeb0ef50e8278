"""The integers of so many bits: their range, and how values are rounded to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.ops.quantiser import sign_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.autodiff.op import Array

MOST_BITS = 32
"""Of an integer; from 25 on float32 does not hold each of them."""


def _away(x: Any) -> Any:
    return np.sign(x) * np.ceil(np.abs(x))


def _half_up(x: Any) -> Any:
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def _half_down(x: Any) -> Any:
    return np.sign(x) * np.ceil(np.abs(x) - 0.5)


ROUNDINGS: dict[str, Callable[[Any], Any]] = {
    "ROUND": np.round,
    "HALF_EVEN": np.round,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "UP": _away,
    "DOWN": np.trunc,
    "HALF_UP": _half_up,
    "HALF_DOWN": _half_down,
}
"""What `rounding_mode` may be, in any case: UP and DOWN mean from and towards 0; the first three with HALF say where
a half goes."""


def integer_range(bits: Array, signed: bool, narrow: bool) -> tuple[Any, Any]:
    """Return the least and the greatest integer of so many bits, in the dtype of `bits`, which must hold them.

    Args:
        bits: How many, an array without axes.
        signed: Two's complement.
        narrow: Without the least one if signed, without the greatest one if not.
    """
    if signed:
        most = 2 ** (bits - 1)
        return -most + 1 if narrow else -most, most - 1
    return 0 * bits, 2**bits - (2 if narrow else 1)


def traced_levels(value: Any, bits: Any, signed: bool, narrow: bool, rounding_mode: str) -> Any:
    """Return the integers for values in units of the scale, by functions that a compiled loop can have.

    The number of bits is a value in the loop as any other, so no branch is taken on it.
    """
    power: Any = 1.0
    left = bits.astype(np.float64) - (1 if signed else 0)
    for step in (32, 16, 8, 4, 2, 1):  # 2 ** left, exactly
        power = np.where(left >= step, power * 2.0**step, power)
        left = np.where(left >= step, left - step, left)
    least = -power + (1 if narrow else 0) if signed else power * 0
    most = power - (2 if narrow and not signed else 1)
    low, high = least.astype(value.dtype), most.astype(value.dtype)
    level = np.where(value > high, high, value)
    level = np.where(level < low, low, level)
    level = ROUNDINGS[rounding_mode.upper()](level)
    return np.where(bits == 1, sign_of(value), level) if signed else level
