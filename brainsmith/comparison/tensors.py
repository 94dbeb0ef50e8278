"""Whether two targets computed the same tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from brainsmith.graph.array_types import Array

RELATIVE_TOLERANCE = 1e-6
_FLOAT_BITS = 24
_WHOLE_IN_FLOAT = 1 << _FLOAT_BITS
"""Whole numbers up to here are exact in float32; beyond it a rounding of floats looks whole too."""
_EVIDENCE_BITS = 32
"""So many bits are 0 by chance in one of four thousand million tensors."""


@dataclass(frozen=True)
class Difference:
    """How two arrays of one tensor differ.

    Attributes:
        tensor: Its name.
        node: What computes it, for people; empty if that is not known.
        samples: How many entries of the first axis have a value beyond the tolerance.
        error: The largest absolute difference; infinite where one of the two is not a number, or the shapes differ.
        index: Of that value.
        expected: It, as the first target has it.
        found: It, as the second one has it.
        tolerance: The absolute difference that was allowed.
    """

    tensor: str
    node: str
    samples: int
    error: float
    index: tuple[int, ...]
    expected: float
    found: float
    tolerance: float


def tolerance_of(expected: Array, found: Array, relative: float, integer: bool) -> float:
    """Return the absolute difference that a tensor may have: none for integers, else a share of its largest magnitude.

    Args:
        expected: As the first target has it.
        found: As the second one has it.
        relative: The share.
        integer: Whether its datatype is one of integers; a tensor in which both have whole numbers alone is taken as one.
    """
    exact = integer or expected.dtype.kind in "biu" or are_whole(expected, found)
    return 0.0 if exact else relative * largest_magnitude(expected)


def are_whole(expected: Array, found: Array) -> bool:
    """Tell whether two arrays hold whole numbers alone, the first only such as no float rounds."""
    return largest_magnitude(expected) <= _WHOLE_IN_FLOAT and _is_whole(expected) and _is_whole(found)


def largest_magnitude(array: Array) -> float:
    """Return the largest absolute value that is a number."""
    return float(np.abs(array[np.isfinite(array)].astype(np.float64)).max(initial=0.0))


def is_on_grid(array: Array) -> bool:
    """Tell whether all values are multiples of one power of two, and need so few bits that no float was rounded.

    Integers are, and integers times a scale that is a power of two. A float that was rounded has 24 random bits, so each
    value that leaves its lowest bits 0 is evidence of that many bits.

    Args:
        array: Values of a computation in float32.
    """
    values = np.sort(np.abs(array[np.isfinite(array)]).astype(np.float32))
    values = values[
        np.append(True, values[1:] != values[:-1])[: len(values)]
    ]  # `np.unique` takes 10 ms at first
    fractions, exponents = np.frexp(values[values != 0].astype(np.float64))
    if not len(fractions):
        return True
    bits = (fractions * _WHOLE_IN_FLOAT).astype(np.int64)
    lowest = exponents - _FLOAT_BITS + np.log2(bits & -bits).astype(np.int64)
    unused = _FLOAT_BITS - int(exponents.max() - lowest.min())
    return unused * len(bits) >= _EVIDENCE_BITS


def _is_whole(array: Array) -> bool:
    with np.errstate(invalid="ignore"):
        return array.dtype.kind in "biu" or bool((array == np.rint(array)).all() and np.isfinite(array).all())


def difference(tensor: str, expected: Array, found: Array, tolerance: float) -> Difference | None:
    """Return how two arrays differ by more than a tolerance; None if they do not. Equal infinities and NaNs do not.

    Args:
        tensor: Their name.
        expected: Of the first target.
        found: Of the second one.
        tolerance: The largest absolute difference that counts as equal.
    """
    if expected.shape != found.shape:
        return Difference(tensor, "", max(len(expected), len(found)), np.inf, (), np.nan, np.nan, tolerance)
    errors = errors_of(expected, found)
    if not errors.size or not float(errors.max()) > tolerance:
        return None
    index = tuple(int(at) for at in np.unravel_index(int(errors.argmax()), errors.shape))
    wrong = errors.reshape(len(errors), -1).max(axis=1) > tolerance if errors.ndim else errors > tolerance
    values = float(expected[index]), float(found[index])
    return Difference(tensor, "", int(wrong.sum()), float(errors[index]), index, *values, tolerance)


def errors_of(expected: Array, found: Array) -> Array:
    """Return the absolute differences of two arrays of one shape; infinite where only one is a number."""
    one, other = expected.astype(np.float64), found.astype(np.float64)
    if expected.dtype.kind in "biu" and found.dtype.kind in "biu":
        # Neighbours beyond 2^53 are one number in float64; they differ by 1 at least.
        return np.asarray(np.where(expected == found, 0.0, np.maximum(np.abs(one - other), 1.0)))
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        errors = np.where(same, 0.0, np.abs(one - other))
    return np.asarray(np.nan_to_num(errors, nan=np.inf, posinf=np.inf))


def largest_error(expected: Array, found: Array) -> float:
    """Return the largest absolute difference of two arrays; infinite if their shapes differ."""
    return float(errors_of(expected, found).max(initial=0.0)) if expected.shape == found.shape else np.inf
