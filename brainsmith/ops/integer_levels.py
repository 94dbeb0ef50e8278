"""The integers of some number of bits: their range, and how values are rounded to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS, integer_limits
from brainsmith.ops.quantiser import sign_of

if TYPE_CHECKING:
    from brainsmith.autodiff.op import Array

MOST_BITS = 32
"""Of an integer; from 25 on float32 does not hold each of them."""


class IntegerLevels(NamedTuple):
    """What values in units of the scale are rounded to.

    Attributes:
        bits: How many each integer has: an array of one element, or a stand-in for one.
        signed: Whether there are negative integers (two's complement); one signed bit means -1 and 1.
        narrow: Whether the range lacks the least integer if signed, the greatest one if not.
        rounding_mode: A key of ROUNDINGS, in any case.
    """

    bits: Any
    signed: bool
    narrow: bool
    rounding_mode: str

    @property
    def bipolar(self) -> bool:
        """Whether they are -1 and 1."""
        return bool(self.signed and self.bits.item() == 1)

    @property
    def ends(self) -> tuple[Any, Any]:
        """The least and the greatest integer in float64, which holds every range; QONNX's float32 gives the same levels."""
        return integer_limits(self.bits.reshape(()).astype(np.float64), self.signed, self.narrow)

    def rounded(self, value: Array) -> Any:
        """Return the integers for values."""
        if self.bipolar:
            return sign_of(value)
        low, high = self.ends
        level = np.where(value > high, high.astype(value.dtype), value)
        level = np.where(level < low, low.astype(value.dtype), level)
        return ROUNDINGS[self.rounding_mode.upper()](level)

    def contain(self, value: Array) -> Any:
        """Return where values are within the range."""
        low, high = (-1, 1) if self.bipolar else self.ends
        return (value >= low) & (value <= high)

    def clip(self, value: Array) -> Any:
        """Return values as they are before rounding."""
        return np.clip(value, *((-1, 1) if self.bipolar else self.ends))

    def traced(self, value: Any) -> Any:
        """Return the integers for values by functions that a compiled loop can have.

        The number of bits is a value in the loop as any other, so no branch is taken on it.
        """
        power: Any = 1.0
        left = self.bits.astype(np.float64) - (1 if self.signed else 0)
        for step in (32, 16, 8, 4, 2, 1):  # 2 ** left, exactly
            power = np.where(left >= step, power * 2.0**step, power)
            left = np.where(left >= step, left - step, left)
        least = -power + (1 if self.narrow else 0) if self.signed else power * 0
        most = power - (2 if self.narrow and not self.signed else 1)
        low, high = least.astype(value.dtype), most.astype(value.dtype)
        level = np.where(value > high, high, value)
        level = np.where(level < low, low, level)
        level = ROUNDINGS[self.rounding_mode.upper()](level)
        return np.where(self.bits == 1, sign_of(value), level) if self.signed else level
