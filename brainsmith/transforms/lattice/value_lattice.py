"""Lattice: the values that a tensor can hold, as whole numbers times a scale, plus an offset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.integer_range import IntegerRange, within

if TYPE_CHECKING:
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole


MOST_MULTIPLE = 1 << 10
"""Of a common unit of two scales: any two float32 have one, and from here on it says nothing of a network."""

LARGEST = 1 << 52
"""Whole numbers beyond are not followed."""


@dataclass(frozen=True)
class Lattice:
    """All values that a tensor can hold: `scale * n + offset` for whole numbers n of a range.

    Proven from the ranges of what the tensor is computed from, not from its datatype annotation. Some of the values
    may never occur. Every array has one element, or one for each channel.

    Attributes:
        scale: float64, not 0.
        offset: float64.
        range: Between which integers each n lies.
        axis: Of the channels, counted from the last one (-1); it says nothing where all arrays have one element.
    """

    scale: Doubles
    offset: Doubles
    range: IntegerRange
    axis: int = -1

    @property
    def channels(self) -> int:
        """How many channels are told apart; 1 where none are."""
        return max(array.size for array in (self.scale, self.offset, *self.range))

    @property
    def per_channel(self) -> bool:
        """Whether channels are told apart by their scales and offsets, not by their ranges alone."""
        return max(self.scale.size, self.offset.size) > 1

    def values(self, numbers: Whole) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the values of some n, (channels or 1, any), rounded to float32 once."""
        exact = self.scale[:, None] * numbers + self.offset[:, None]
        return np.asarray(exact, np.float32)

    def uniform(self) -> Lattice | None:
        """Return one lattice that holds the values of all channels; None if they have no common unit."""
        if self.channels == 1:
            return self
        unit = common_unit(np.concatenate([self.scale, _steps(self.offset)]))
        if unit is None:
            return None
        times = np.rint(self.scale / unit).astype(np.int64)
        base = self.offset[:1]
        shift = np.rint((self.offset - base) / unit).astype(np.int64)
        return Lattice(np.asarray([unit]), base, self.range.times(times).plus(shift).of_all())

    def at_zero(self) -> Lattice | None:
        """Return the same lattice with offset 0, by other n; None if 0 lies between two of its values."""
        shift = self.offset / self.scale
        whole = np.rint(shift)
        if not np.array_equal(whole * self.scale, np.broadcast_to(self.offset, np.broadcast(whole).shape)):
            return None
        return Lattice(self.scale, np.zeros(1), self.range.plus(whole.astype(np.int64)), self.axis)

    def with_zero(self) -> Lattice | None:
        """Return the lattice that holds 0 as well, which padding adds; None if it lies between two values."""
        moved = self.at_zero()
        if moved is None:
            return None
        return replace(moved, range=moved.range.holding(0))

    def is_small(self) -> bool:
        """Tell whether all n are numbers that float64 holds."""
        return self.range.magnitude < LARGEST


def of_integers(low: int, high: int) -> Lattice:
    """Return the lattice of whole numbers from `low` to `high`."""
    return Lattice(np.ones(1), np.zeros(1), within(low, high))


def of_array(values: np.ndarray[Any, Any]) -> Lattice | None:
    """Return a lattice that holds the elements of a constant; None if they have no common unit."""
    flat = np.unique(values.astype(np.float64).reshape(-1))
    if not flat.size or not np.isfinite(flat).all():
        return None
    # Whole numbers are counted in ones, even ones too: so does the accumulator that adds them.
    unit = 1.0 if np.array_equal(np.rint(flat), flat) else common_unit(flat)
    if unit is None:
        return None
    numbers = np.rint(flat / unit).astype(np.int64)
    return Lattice(np.asarray([unit]), np.zeros(1), within(int(numbers.min()), int(numbers.max())))


def common_unit(numbers: Doubles) -> float | None:
    """Return the greatest number of which all are exact multiples; None if it is tiny beside one of them.

    Zeros are multiples of everything; without any other number the unit is 1.
    """
    sizes = np.unique(np.abs(numbers[numbers != 0]))
    if not sizes.size:
        return 1.0
    if not np.isfinite(sizes).all():
        return None
    mantissas, exponents = np.frexp(sizes)
    lowest = int(exponents.min())
    if int(exponents.max()) - lowest > MOST_MULTIPLE.bit_length():
        return None
    whole = [
        int(mantissa * (1 << 53)) << (int(exponent) - lowest)
        for mantissa, exponent in zip(mantissas, exponents, strict=True)
    ]
    unit = gcd(*whole)
    if max(whole) // unit > MOST_MULTIPLE:
        return None
    return float(np.ldexp(float(unit), lowest - 53))


def _steps(offsets: Doubles) -> Doubles:
    return offsets[1:] - offsets[:-1]
