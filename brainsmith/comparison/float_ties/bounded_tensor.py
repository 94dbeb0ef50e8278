"""BoundedTensor: what a network gives for a tensor, and between which floats any order of summation gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

UNIT = 2.0**-24
"""The unit roundoff u of float32: a result is rounded by at most u times its size (Higham, Accuracy and Stability)."""

DOUBLE = 2.0**-46
"""Part of the magnitudes of its terms by which a sum in double precision is off at most."""

_OUTWARD = 1 + 2.0**-20
"""What errors and sizes, which are float32 here, are enlarged by, so that their own rounding makes none too small."""


def gamma(count: int) -> float:
    """Return the bound of so many roundings one after the other: `n u / (1 - n u)`."""
    product = count * UNIT
    return product / (1 - product)


@dataclass(frozen=True)
class BoundedTensor:
    """One tensor of a network for one frame.

    `low`, `high` and `nearest` are what the network's own operators make of other results of the last sum in front: of the
    ends between which any order of summation leaves it, and of the exact sum, rounded once. Where rounding cannot matter,
    all are one array.

    Attributes:
        value: What the network gives; float32, as all floats here.
        low: The least that another order of summation gives.
        high: The greatest.
        error: By how much roundings after the last sum keep it from real arithmetic at most; None for 0.
        size: The largest number that an evaluation in integers may have on its way to this one; None for its own.
        nearest: Of the exact sum, rounded once; two where double precision cannot tell to which; None for the value.
        real: In real arithmetic, where scales are not rounded; float64; None for the value.
    """

    value: Array
    low: Array
    high: Array
    error: Array | None = None
    size: Array | None = None
    nearest: tuple[Array, Array] | None = None
    real: Array | None = None

    @property
    def is_certain(self) -> bool:
        """Whether rounding cannot matter."""
        return self.low is self.value and self.high is self.value and self.error is None

    @property
    def middle(self) -> Array:
        """The middle of what it may be; float64."""
        if self.low is self.high:
            return np.asarray(self.value, np.float64)
        return (self.low.astype(np.float64) + self.high.astype(np.float64)) / 2

    @property
    def radius(self) -> Array:
        """How far real arithmetic may be from the middle; float64."""
        found = (self.high.astype(np.float64) - self.low.astype(np.float64)) / 2
        return found if self.error is None else found + self.error

    @property
    def sizes(self) -> Array:
        """The sizes; float64."""
        return (
            np.abs(np.asarray(self.value, np.float64)) if self.size is None else self.size.astype(np.float64)
        )

    @property
    def rounded_once(self) -> tuple[Array, Array]:
        """What `nearest` stands for."""
        return (self.value, self.value) if self.nearest is None else self.nearest

    @property
    def exact(self) -> Array:
        """What `real` stands for; float64."""
        return np.asarray(self.value, np.float64) if self.real is None else self.real


def certain(value: Array) -> BoundedTensor:
    """Return a tensor that rounding does not change."""
    return BoundedTensor(value, value, value)


def around(
    value: Array, middle: Array, radius: Array, size: Array, nearest: tuple[Array, Array], real: Array
) -> BoundedTensor:
    """Return a tensor that lies within a radius of its middle, both float64."""
    ends = _below(middle - radius), -_below(-(middle + radius))
    return BoundedTensor(value, *ends, None, enlarged(size), nearest, real)


def rounded(exact: Array, size: Array) -> tuple[Array, Array]:
    """Return to which floats a sum is rounded, as far as double precision tells; two equal ones but for rare midpoints."""
    slack = size * DOUBLE
    return (exact - slack).astype(np.float32), (exact + slack).astype(np.float32)


def enlarged(array: Array) -> Array:
    """Return errors or sizes as float32 that are not smaller."""
    return np.asarray(array * _OUTWARD, np.float32)


def _below(values: Array) -> Array:
    """Round to float32 downwards."""
    nearest = values.astype(np.float32)
    return np.where(nearest > values, np.nextafter(nearest, np.float32(-np.inf)), nearest)
