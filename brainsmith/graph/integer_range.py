"""IntegerRange: between which whole numbers values lie; of models that run, and of those that a front end makes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from brainsmith.graph.array_types import Array

Span = tuple[int, int]

FLOAT32_END = 1 << 24
"""Whole numbers up to here are exact in float32, and so are their sums in any order."""

ACCUMULATOR_END = 1 << 47
"""Where sums end: 48 bits in two's complement, as an accumulator of a DSP slice has them."""

FLOAT64_END = 1 << 53
"""Whole numbers up to here are exact in float64, and so are their sums in any order."""

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

    def shifted(self, low: Any, high: Any) -> IntegerRange:
        """Return the range of sums with other values: of all channels, or of each."""
        return IntegerRange(self.low + low, self.high + high)

    def with_zero(self) -> IntegerRange:
        """Return the range that holds 0 too, which padding adds."""
        return IntegerRange(np.minimum(self.low, 0), np.maximum(self.high, 0))

    def clipped(self, low: int, high: int) -> IntegerRange:
        """Return the part between two values."""
        return IntegerRange(np.maximum(self.low, low), np.minimum(self.high, high))

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
        fits = found.magnitude <= np.iinfo(np.int64).max
        return IntegerRange(*(end.astype(np.int64) for end in found)) if fits else found

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
