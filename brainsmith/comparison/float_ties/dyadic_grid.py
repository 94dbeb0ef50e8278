"""DyadicGrid: what is known of all values that a tensor can ever hold, to prove that float32 does not round them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_MANTISSA = 2.0**24
"""Whole numbers up to it are exact in float32."""

_LOWEST = 2.0**-100
"""Steps below may come near to float32's least numbers."""


@dataclass(frozen=True)
class DyadicGrid:
    """Multiples of a power of two, up to a largest one.

    Attributes:
        step: The power of two; 0 where values are not known to be exact multiples of one.
        most: The largest magnitude.
    """

    step: float
    most: float

    @property
    def is_exact(self) -> bool:
        """Whether float32 holds each of its values."""
        return self.step >= _LOWEST and self.most <= self.step * _MANTISSA

    def kept(self) -> DyadicGrid:
        """Return it if float32 holds its values; else, since they are rounded then, none."""
        return self if self.is_exact else UNKNOWN

    def plus(self, other: DyadicGrid) -> DyadicGrid:
        """Return the grid of sums."""
        return DyadicGrid(min(self.step, other.step), self.most + other.most).kept()

    def times(self, other: DyadicGrid) -> DyadicGrid:
        """Return the grid of products."""
        return DyadicGrid(self.step * other.step, self.most * other.most).kept()

    def beside(self, other: DyadicGrid) -> DyadicGrid:
        """Return the grid of the values of both."""
        return DyadicGrid(min(self.step, other.step), max(self.most, other.most)).kept()


UNKNOWN = DyadicGrid(0.0, 0.0)


def grid_of(values: Any) -> DyadicGrid:
    """Return the grid of a constant."""
    flat = np.abs(np.asarray(values, np.float64).reshape(-1))
    if not np.isfinite(flat).all():
        return UNKNOWN
    used = flat[flat != 0]
    if not used.size:
        return DyadicGrid(1.0, 0.0)
    mantissas, exponents = np.frexp(used)
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = whole & -whole  # the last bit that is 1
    return DyadicGrid(
        float(np.ldexp(lowest.astype(np.float64), exponents - 53).min()), float(used.max())
    ).kept()
