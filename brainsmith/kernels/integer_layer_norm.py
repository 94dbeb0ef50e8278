"""Layer normalisation of integers by integers: the algorithm that Python, HLS C++ and RTL share bit for bit.

With N elements in a row, `c = N x - sum(x)` is N times the centred element and `v = N sum(x^2) - sum(x)^2` is N^2
times the variance, so `c / sqrt(v + N^2 epsilon)` is the normalised element, and nothing was rounded yet. One
reciprocal square root per row, rounded down, and one product per element give it as a fixed-point number.

The root is found one bit per step, as in long-hand square roots: B. Parhami, Computer Arithmetic (2nd edition),
chapter 21; here the remainder is that of `2^(2 shift) - root^2 d`, so that no division is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions.whole_rows import normalise_rows
from brainsmith.forks import cached_property

if TYPE_CHECKING:
    import numpy.typing as npt

GUARD_BITS = 2
"""The root's error is seen in the output as less than 2^-GUARD_BITS of its last place."""

WIDEST = 62
"""All sums and products must fit in a signed integer of 64 bits; one bit is spare."""

CONTAINER = 24
"""Tensors are float32, which holds integers of so many bits exactly."""

ROW_OVERHEAD = 4
"""Cycles of a row in the serial unit besides the root's bits: take, square, subtract, give."""


@dataclass(frozen=True)
class IntegerLayerNorm:
    """Which integers normalise rows of integers.

    The result of an element is `floor(c root / 2^(shift - fraction_bits) + 1/2)`, clipped to the output's range, with
    `root = floor(2^shift / sqrt(d))` and `d = v + epsilon_term`. Where nothing is clipped it differs from
    `2^fraction_bits (x - mean) / sqrt(variance + epsilon_term / N^2)` by at most `error`.

    Attributes:
        size: Elements of a row, N.
        low: The least input.
        high: The greatest input.
        fraction_bits: Of the output.
        output_bits: Of the output, which is signed.
        epsilon: Of integers: that of real numbers divided by the square of the input's scale.
    """

    size: int
    low: int
    high: int
    fraction_bits: int
    output_bits: int
    epsilon: float

    @property
    def error(self) -> float:
        """The greatest error, in units of the output's last place: rounding it, and rounding the root."""
        return 0.5 + 2.0**-GUARD_BITS

    @property
    def epsilon_term(self) -> int:
        """`N^2 epsilon` as the integer next to it."""
        return int(np.floor(self.size**2 * self.epsilon + 0.5))

    @property
    def centred_limit(self) -> int:
        """The greatest size of a centred element, times N."""
        return max((self.size - 1) * (self.high - self.low), 1)

    @property
    def square_limit(self) -> int:
        """The greatest sum of squares."""
        return self.size * max(self.low**2, self.high**2)

    @property
    def sum_limit(self) -> int:
        """The greatest size of a sum."""
        return self.size * max(-self.low, self.high)

    @cached_property
    def deviation_limit(self) -> int:
        """The greatest `d`: half of the row lies at either end of the range."""
        return max((self.size * (self.high - self.low)) ** 2 // 4 + self.epsilon_term, 1)

    @property
    def shift(self) -> int:
        """Fraction bits of the root."""
        return self.fraction_bits + GUARD_BITS + self.centred_limit.bit_length()

    @cached_property
    def root_bits(self) -> int:
        """Bits of the greatest root that is multiplied by more than 0; 1 where a great epsilon makes all roots 0.

        `v` is the sum of the squared differences of all pairs; where two elements differ, N - 1 pairs do.
        """
        least = max(self.size - 1 + self.epsilon_term, 1)
        return max(isqrt((1 << 2 * self.shift) // least).bit_length(), 1)

    @cached_property
    def remainder_bits(self) -> int:
        """Bits of the remainder in the recurrence, which is at most `8 p + 4 d` with `p` half of `root d`."""
        product = (1 << (self.shift - 1)) * (isqrt(self.deviation_limit) + 1)
        greatest = max(8 * product + 4 * self.deviation_limit, 1 << 2 * (self.shift - self.root_bits + 1))
        return greatest.bit_length()

    @property
    def serial_cycles(self) -> int:
        """Cycles that a row occupies the unit that finds the root, one bit per cycle."""
        return self.root_bits + ROW_OVERHEAD

    @property
    def problem(self) -> str:
        """Why these integers cannot be computed in 64 bits, as the end of a sentence; empty if they can."""
        if self.fraction_bits < 0 or self.epsilon < 0:
            return "fraction_bits and epsilon must not be negative"
        if self.epsilon_term >= 1 << 31:
            return f"its epsilon times the square of the row, {self.epsilon_term}, does not fit in 31 bits"
        if max(self.output_bits, max(-self.low, self.high).bit_length() + 1) > CONTAINER:
            return f"its input or output has more than {CONTAINER} bits"
        product = self.centred_limit.bit_length() + 1 + self.root_bits
        widest = max(product, self.remainder_bits, (self.size * self.square_limit).bit_length())
        if widest > WIDEST:
            return f"its inner numbers have {widest} bits, and {WIDEST} is the most"
        return ""

    def widths(self) -> dict[str, int]:
        """Return the widths and constants by the names that the cores in C++ and SystemVerilog give them."""
        return {
            "epsilon_term": self.epsilon_term,
            "sum_bits": self.sum_limit.bit_length() + 1,
            "square_bits": self.square_limit.bit_length(),
            "deviation_bits": self.deviation_limit.bit_length(),
            "root_bits": self.root_bits,
            "remainder_bits": self.remainder_bits,
            "remainder_start": 2 * (self.shift - self.root_bits + 1),
            "centred_bits": self.centred_limit.bit_length() + 1,
            "drop": self.shift - self.fraction_bits,
        }

    def numbers(self) -> dict[str, int]:
        """Return the parameters of `normalise_rows`."""
        names = ("size", "epsilon_term", "shift", "root_bits", "fraction_bits", "output_bits")
        return {name: getattr(self, name) for name in names}

    def compute(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Normalise rows of integers; the last axis is the row."""
        found: npt.NDArray[np.float32] = normalise_rows(values, **self.numbers())
        return found


def output_bits_for(size: int, fraction_bits: int) -> int:
    """Return the bits of a signed output that nothing is clipped in: an element is at most `sqrt(size - 1)`."""
    return ((isqrt(max(size - 1, 1)) + 1) << fraction_bits).bit_length() + 1
