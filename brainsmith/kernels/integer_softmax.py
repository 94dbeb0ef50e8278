"""Softmax of integers by integers: the algorithm that Python, HLS C++ and RTL share bit for bit.

Inputs are integers with a real scale, so `exp(scale (x - max))` takes as many values as `max - x` does, and these are
a table. The sum's reciprocal is found once per row by restoring division, one bit per step (B. Parhami, Computer
Arithmetic, 2nd edition, chapter 13), and each element is one product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions.whole_rows import soften_rows
from brainsmith.forks import cached_property

if TYPE_CHECKING:
    import numpy.typing as npt

RECIPROCAL_GUARD = 2
"""The reciprocal's error is seen in the output as less than 2^-RECIPROCAL_GUARD of its last place."""

WIDEST_TABLE = 14
"""Bits of the table's address at most."""

WIDEST = 62
"""All sums and products must fit in a signed integer of 64 bits; one bit is spare."""

CONTAINER = 24
"""Tensors are float32, which holds integers of so many bits exactly."""

ROW_OVERHEAD = 2
"""Cycles of a row in the serial unit besides the reciprocal's bits: take, give."""


@dataclass(frozen=True)
class IntegerSoftmax:
    """Which integers compute the softmax of rows of integers.

    `power = floor(2^power_fraction exp(-scale (max - x)) + 1/2)`, `reciprocal = floor(2^shift / sum(power))`, and the
    result is `floor(power reciprocal / 2^(shift - fraction_bits) + 1/2)`, at most the output's greatest value. It
    differs from `2^fraction_bits softmax(scale x)` by at most `error`.

    Attributes:
        size: Elements of a row.
        low: The least input.
        high: The greatest input.
        scale: What an input is multiplied by to be the real number; more than 0.
        fraction_bits: Of the output.
        output_bits: Of the output, which is unsigned; at least `fraction_bits`.
    """

    size: int
    low: int
    high: int
    scale: float
    fraction_bits: int
    output_bits: int

    @property
    def error(self) -> float:
        """The greatest error, in units of the output's last place.

        A half for rounding the output. A quarter for the reciprocal. A quarter for the powers: each is off by at most
        1/2, so a quotient by at most `(1 + (size - 1) p) / (2 sum)`, and the greatest power is exact, so the sum is at
        least `2^power_fraction`. An output of 1 that does not fit is off by at most 1.
        """
        return 0.5 + 2.0**-RECIPROCAL_GUARD + 0.25

    @property
    def power_fraction(self) -> int:
        """Fraction bits of a power: `size / 2` of its last places are a quarter of the output's."""
        return self.fraction_bits + 1 + (self.size - 1).bit_length()

    @property
    def shift(self) -> int:
        """Fraction bits of the reciprocal, with those of a power."""
        return self.fraction_bits + self.power_fraction + RECIPROCAL_GUARD

    @property
    def reciprocal_bits(self) -> int:
        """Bits of the greatest reciprocal, that of one power of 1."""
        return self.fraction_bits + RECIPROCAL_GUARD + 1

    @property
    def sum_bits(self) -> int:
        """Bits of the greatest sum of powers."""
        return (self.size << self.power_fraction).bit_length()

    @property
    def serial_cycles(self) -> int:
        """Cycles that a row occupies the unit that divides, one bit per cycle."""
        return self.reciprocal_bits + ROW_OVERHEAD

    @cached_property
    def address_bits(self) -> int:
        """Bits of a table's address: enough for all differences, or for the last entry to be 0."""
        for bits in range(1, WIDEST_TABLE + 2):
            if (1 << bits) > self.high - self.low or self._power((1 << bits) - 1) == 0:
                return bits
        return WIDEST_TABLE + 1

    @cached_property
    def table(self) -> tuple[int, ...]:
        """The powers by `max - x`; a greater difference than the last counts as the last."""
        return tuple(self._power(difference) for difference in range(1 << self.address_bits))

    def _power(self, difference: int) -> int:
        return math.floor(math.exp(-self.scale * difference) * (1 << self.power_fraction) + 0.5)

    @property
    def problem(self) -> str:
        """Why these integers cannot be computed, as the end of a sentence; empty if they can."""
        if self.scale <= 0 or self.fraction_bits < 1:
            return "scale must be more than 0 and fraction_bits 1 or more"
        if not self.fraction_bits <= self.output_bits <= CONTAINER:
            return f"its output must have {self.fraction_bits} to {CONTAINER} bits, not {self.output_bits}"
        if (self.high - self.low).bit_length() > CONTAINER:
            return f"its input has more than {CONTAINER} bits"
        if self.address_bits > WIDEST_TABLE:
            return (
                f"its table of powers would have more than {1 << WIDEST_TABLE} entries at scale {self.scale:g}: "
                "quantise its input to fewer bits"
            )
        widest = max(self.power_fraction + 1 + self.reciprocal_bits, self.shift + 1)
        if widest > WIDEST:
            return f"its inner numbers have {widest} bits, and {WIDEST} is the most"
        return ""

    def widths(self) -> dict[str, int]:
        """Return the widths by the names that the cores in C++ and SystemVerilog give them."""
        return {
            "address_bits": self.address_bits,
            "power_bits": self.power_fraction + 1,
            "sum_bits": self.sum_bits,
            "reciprocal_bits": self.reciprocal_bits,
            "drop": self.shift - self.fraction_bits,
        }

    def numbers(self) -> dict[str, int]:
        """Return the parameters of `soften_rows`."""
        return {"shift": self.shift, "fraction_bits": self.fraction_bits, "output_bits": self.output_bits}

    def compute(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Return the softmax of rows of integers; the last axis is the row."""
        found: npt.NDArray[np.float32] = soften_rows(
            values, np.asarray(self.table, np.int64), **self.numbers()
        )
        return found
