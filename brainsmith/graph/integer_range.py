"""IntegerRange: between which whole numbers values lie, and what sums, products and the like make of it.

The one such analysis: array programs prove their types from it, the front end its integer layers.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable

Span = tuple[int, int]

FLOAT16_END = 1 << 11
"""Whole numbers up to here are exact in float16."""

FLOAT32_END = 1 << 24
"""Whole numbers up to here are exact in float32, and so are their sums in any order."""

ACCUMULATOR_END = 1 << 47
"""Where sums end: 48 bits in two's complement, as an accumulator of a DSP slice has them."""

FLOAT64_END = 1 << 53
"""Whole numbers up to here are exact in float64, and so are their sums in any order."""

_INT64_END = (1 << 63) - 1

_SPARSE = 0.125
"""Where fewer of the weights are not 0, only those are multiplied."""


class IntegerRange(NamedTuple):
    """The least and the greatest value: one of each for all values, or one for each channel."""

    low: Array
    high: Array

    @property
    def ends(self) -> Span:
        """The least and the greatest value of all channels."""
        return int(self.low.min()), int(self.high.max())

    @property
    def magnitude(self) -> int:
        """The greatest distance from 0."""
        return max(map(abs, self.ends))

    def plus(self, other: Numbers) -> IntegerRange:
        """Return the range of sums with other values: those of a range, one number, or one for each channel."""
        return _reached(np.add, self, other)

    def times(self, other: Numbers) -> IntegerRange:
        """Return the range of products with other values."""
        return _reached(np.multiply, self, other)

    def greater(self, other: Numbers) -> IntegerRange:
        """Return the range of the greater of two values."""
        return _reached(np.maximum, self, other)

    def lesser(self, other: Numbers) -> IntegerRange:
        """Return the range of the lesser of two values."""
        return _reached(np.minimum, self, other)

    def shifted_right(self, bits: int) -> IntegerRange:
        """Return the range of values shifted right by bits, towards minus infinity."""
        return IntegerRange(self.low >> bits, self.high >> bits)

    def holding(self, *others: Numbers) -> IntegerRange:
        """Return the least range that holds the values of others too, channel by channel."""
        ranges = [*map(_as_range, (self, *others))]
        return IntegerRange(
            reduce(np.minimum, [each.low for each in ranges]),
            reduce(np.maximum, [each.high for each in ranges]),
        )

    def clipped(self, low: int, high: int) -> IntegerRange:
        """Return the part between two values."""
        return self.greater(low).lesser(high)

    def of_all(self) -> IntegerRange:
        """Return one range for the values of all channels."""
        return IntegerRange(self.low.min(keepdims=True), self.high.max(keepdims=True))

    def at(self, channels: Array) -> IntegerRange:
        """Return the ranges of some channels, in their order."""
        low, high = (end if end.size == 1 else end[channels] for end in self)
        return IntegerRange(low, high)

    def fits(self, dtype: np.dtype[Any]) -> bool:
        """Tell whether a type of NumPy holds all of its values, or rounds those that it does not to others of them."""
        low, high = self.ends
        if dtype.kind == "f":
            return dtype.itemsize > 2 or (dtype == np.float16 and self.magnitude <= FLOAT16_END)
        if dtype.kind == "b":
            return low >= 0 and high <= 1
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        return limits is not None and int(limits.min) <= low and high <= int(limits.max)

    def sums(self, weights: Array) -> IntegerRange:
        """Return the range of the sum of each column of weights, (terms, sums), times values: each term has a channel."""
        if not weights.size:
            none = np.zeros(max(weights.shape[1], 1), np.int64)
            return IntegerRange(none, none)
        greatest = max(float(np.abs(weights).max()), 1.0)
        huge = max(self.magnitude, 1) * greatest * len(weights) >= FLOAT64_END
        if not huge and np.count_nonzero(weights) < _SPARSE * weights.size:
            return self._few_sums(weights)
        exact = np.vectorize(int, otypes=[object])(weights) if huge else weights.astype(np.float64)
        ends = [exact * end.astype(exact.dtype).reshape(-1, 1) for end in self]
        found = IntegerRange(np.minimum(*ends).sum(axis=0), np.maximum(*ends).sum(axis=0))
        return _narrow(found)

    def _few_sums(self, weights: Array) -> IntegerRange:
        """Return the range of sums of which most weights are 0, such as a depthwise convolution's."""
        rows, columns = np.nonzero(weights)
        taps = weights[rows, columns].astype(np.float64)
        ends = [taps * np.broadcast_to(end.reshape(-1), len(weights))[rows] for end in self]
        sums = (
            np.bincount(columns, each, weights.shape[1]) for each in (np.minimum(*ends), np.maximum(*ends))
        )
        return IntegerRange(*(each.astype(np.int64) for each in sums))


def within(low: int, high: int) -> IntegerRange:
    """Return one range for all values."""
    return IntegerRange(np.asarray([low]), np.asarray([high]))


def range_of_values(values: Array) -> IntegerRange | None:
    """Return one range for all of some whole numbers; None if one is not whole."""
    if values.dtype.kind not in "biuf" or not values.size:
        return None
    if values.dtype.kind == "f" and not (
        np.isfinite(values).all() and np.array_equal(np.rint(values), values)
    ):
        return None
    return within(int(values.min()), int(values.max()))


Numbers = IntegerRange | Array | int
"""What a range is added to, multiplied by or compared with: a range, one number, or one for each channel."""


def _as_range(numbers: Numbers) -> IntegerRange:
    """Return numbers as a range in int64, or in Python's integers where these are too small."""
    ends = numbers if isinstance(numbers, IntegerRange) else [np.atleast_1d(numbers)] * 2
    return IntegerRange(
        *(end.astype(np.int64 if np.can_cast(end.dtype, np.int64) else object) for end in ends)
    )


def _reached(function: Callable[[Array, Array], Array], *given: Numbers) -> IntegerRange:
    """Return what a function reaches of two values that rises, or falls, with each of them, exactly at any size."""
    ranges = [_as_range(each) for each in given]
    if prod(each.magnitude + 1 for each in ranges) > _INT64_END:
        ranges = [IntegerRange(*(end.astype(object) for end in each)) for each in ranges]
    corners = [function(*corner) for corner in product(*ranges)]
    return _narrow(IntegerRange(reduce(np.minimum, corners), reduce(np.maximum, corners)))


def _narrow(found: IntegerRange) -> IntegerRange:
    """Return a range in int64 if that holds it."""
    fits = found.magnitude <= _INT64_END
    return IntegerRange(*(end.astype(np.int64) for end in found)) if fits else found
