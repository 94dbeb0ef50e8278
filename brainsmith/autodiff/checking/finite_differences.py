"""Derivatives by finite differences, each with how far rounding may have moved it and whether there is one at all.

Four values around a point give two central differences, of steps h and h/2. Their combination (4 fine - coarse) / 3
has an error of order h^4 (Richardson's extrapolation), and their disagreement shows a kink or a jump nearby. With
h = epsilon^(1/4), 2^-13 in float64, the rounding error epsilon / h is 1.8e-12 and the truncation h^4 / 480 times the
fifth derivative is mostly far below it: a smaller step would only round more, a larger one would meet more kinks.
Where the two differences disagree by so much that the remainder counts (a function that bends within a few steps), a
third one, of step h/4, makes the error one of order h^6, and shows how large it is.
"""

from __future__ import annotations

from math import frexp, log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.autodiff.op import Array, Arrays

_ROUNDINGS = 8
"""How many roundings of a value one may expect in a forward of a few operations."""

_BENT = 0.5
"""A second difference grows fourfold with the step where there is a second derivative; twofold at a kink."""

_APART = 1e-3
"""Two central differences further apart than this, relative to their size, have a kink between them."""

_FLAT = 1e-6
"""The same in the unit of the weights, for places where the derivative is 0."""


_CURVED = 1e-5
"""Two central differences further apart than this ask for a third: the remainder, some tens of times the square of
this, nears what is checked."""


class Slope(NamedTuple):
    """The derivative of a weighted sum of outputs with regard to one element of one input.

    Attributes:
        value: The derivative.
        doubt: By how much rounding, and what the extrapolation leaves, may have changed it.
        smooth: Whether there is a derivative: no kink, jump or edge of the domain within a step.
    """

    value: float
    doubt: float
    smooth: bool


def step_at(x: float, epsilon: float) -> float:
    """Return the step for an element: a power of two, so that neither it nor its half is rounded.

    Args:
        x: The element.
        epsilon: The relative precision of the values.
    """
    size = max(1.0, 2.0 ** frexp(abs(x))[1])
    return float(2.0 ** round(log2(epsilon) / 4) * size)


def slope(
    function: Callable[[Array], Arrays], x: Array, element: tuple[int, ...], weights: Arrays, epsilon: float
) -> Slope:
    """Measure the derivative of `sum(weights * function(x))` with regard to one element of `x`.

    Args:
        function: Gives the outputs for an input.
        x: The input, of floats.
        element: The index of the element.
        weights: One array for each output, of its shape.
        epsilon: The relative precision of what the function computes.
    """
    centre, moved = function(x), x.copy()
    step = step_at(float(x[element]), epsilon)

    def both_ways(by: float) -> _Differences:
        found = []
        for at in (by, -by):
            moved[element] = x[element] + at
            found.append(_change(function(moved), centre, weights))
        (up, more), (down, less) = found
        return _Differences(up, down, by, max(more, less) * epsilon * _ROUNDINGS)

    coarse, fine = both_ways(step), both_ways(step / 2)
    found = _judge(coarse, fine, sum(float(np.sum(np.abs(w))) for w in weights))
    apart = abs(coarse.slope - fine.slope)
    if found.smooth and apart > max(_CURVED * abs(fine.slope), found.doubt):
        return _refined(coarse, fine, both_ways(step / 4))
    return found


class _Differences(NamedTuple):
    """How much the weighted sum changes a step above and below the point, and how much rounding may be in it."""

    up: float
    down: float
    step: float
    noise: float

    @property
    def slope(self) -> float:
        """The central difference."""
        return (self.up - self.down) / (2 * self.step)


def _refined(coarse: _Differences, fine: _Differences, finest: _Differences) -> Slope:
    """Combine three central differences; the combination of the two finer ones tells how good it is itself."""
    first, second = (4 * fine.slope - coarse.slope) / 3, (4 * finest.slope - fine.slope) / 3
    remainder = (second - first) / 15
    noise = max(coarse.noise, fine.noise, finest.noise)
    return Slope(second + remainder, 2 * noise / finest.step + abs(remainder), smooth=True)


def _change(moved: Arrays, centre: Arrays, weights: Arrays) -> tuple[float, float]:
    """Return how much the weighted sum changed, and the size of the terms that did.

    Of those that did not the largest one counts: the derivative of a saturated function is lost in its rounding.
    """
    total = size = 0.0
    for after, before, weight in zip(moved, centre, weights, strict=True):
        difference = _wide(after) - _wide(before)
        total += float(np.sum(weight * difference))
        terms = np.abs(_wide(weight)) * np.maximum(np.abs(_wide(after)), np.abs(_wide(before)))
        changed = difference != 0
        size += float(np.sum(terms, where=changed)) + float(np.max(terms, where=~changed, initial=0.0))
    return total, size


def _wide(values: Array) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(values, np.float64)


def _judge(coarse: _Differences, fine: _Differences, unit: float) -> Slope:
    wide, narrow = coarse.slope, fine.slope
    noise = max(coarse.noise, fine.noise)
    value, doubt = (4 * narrow - wide) / 3, 2 * noise / coarse.step
    if not np.isfinite(value):
        return Slope(value, doubt, smooth=False)
    bend, half_bend = coarse.up + coarse.down, fine.up + fine.down
    bent = abs(bend - 4 * half_bend) > _BENT * abs(bend) + 8 * noise
    apart = abs(wide - narrow) > _APART * max(abs(wide), abs(narrow)) + _FLAT * unit + doubt
    return Slope(value, doubt, smooth=not (bent or apart))
