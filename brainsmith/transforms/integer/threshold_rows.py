"""Thresholds by evaluation: where the level changes, found with the network's own arithmetic over the integers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.lattice.search import find_steps

if TYPE_CHECKING:
    from brainsmith.graph.integer_range import IntegerRange
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Whole
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_LEVELS = 255
"""More steps are no thresholds: each is a comparison of its own."""


@dataclass(frozen=True)
class ThresholdRows:
    """What makes levels of integers: `level = low + how many thresholds of the channel are <= n * sign`.

    Attributes:
        rows: (channels or 1, levels), rising; int64.
        signs: 1 or -1; one, or one for each channel.
        low: The level below all thresholds.
    """

    rows: Whole
    signs: Whole
    low: int

    def levels(self, numbers: Whole) -> Whole:
        """Return the levels of some n, (channels or 1, any)."""
        turned = np.broadcast_to(
            numbers * self.signs[:, None],
            (max(len(self.rows), len(numbers), self.signs.size), numbers.shape[1]),
        )
        rows = np.broadcast_to(self.rows, (len(turned), self.rows.shape[1]))
        found = [np.searchsorted(row, values, "right") for row, values in zip(rows, turned, strict=True)]
        return self.low + np.stack(found)


def quantised(tensor: IntegerTensor, staircase: Staircase) -> ThresholdRows:
    """Return the thresholds with which integers give a quantiser's levels.

    The levels are computed through the pending operators with the quantiser's own function. All of them rise, or fall,
    with the integers, also after rounding, so each threshold is found by bisection between the least and the greatest
    integer of all channels. One that a channel's own integers all reach, or none does, could be any number beyond them:
    it stays where the channel's others lead to, which needs the smallest tables in a circuit, as far as no datatype grows.
    """
    told_apart = max(tensor.told_apart, staircase.channels)
    way = tensor.direction
    turned = tensor.range.times(way)

    def levels(numbers: Whole) -> Whole:
        return staircase.levels(tensor.values(numbers * way[:, None]))

    everywhere = turned.of_all()
    with np.errstate(all="ignore"):
        rows = find_steps(levels, staircase.reached, *everywhere, told_apart)
    rows = np.minimum(rows, np.maximum(turned.high + 1, everywhere.high)[:, None])
    return trimmed(ThresholdRows(rows, way, staircase.low), turned)


def reached(tensor: IntegerTensor, staircase: Staircase) -> Staircase:
    """Return a quantiser without the levels that no integer reaches, where it has more than thresholds give."""
    if (staircase.high - staircase.low) // staircase.step <= MOST_LEVELS:
        return staircase
    with np.errstate(all="ignore"):
        ends = staircase.levels(tensor.values(np.stack(np.broadcast_arrays(*tensor.range), axis=-1)))
    low = max(int(ends.min()), staircase.low)
    return replace(staircase, low=low, high=min(max(int(ends.max()), low + staircase.step), staircase.high))


def trimmed(found: ThresholdRows, given: IntegerRange) -> ThresholdRows:
    """Leave out the steps that every channel has behind it from its least integer on, and those that none reaches."""
    behind = (found.rows <= given.low[:, None]).all(axis=0)
    needed = np.flatnonzero(~behind & (found.rows <= given.high[:, None]).any(axis=0))
    first = int(needed[0]) if needed.size else int(behind.sum()) - 1 if behind.any() else 0
    last = int(needed[-1]) if needed.size else first
    return ThresholdRows(found.rows[:, first : last + 1], found.signs, found.low + first)
