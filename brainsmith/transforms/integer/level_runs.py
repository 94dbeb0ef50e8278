"""LevelRuns: which levels any function has over integers, one by one, or in intervals over which it is proven constant.

Where integers are too many to be tried, each operator is computed for intervals: it gives bounds of what it makes of all
floats between two. A quantiser that gives both bounds one level gives all of the interval this level; other intervals are
divided, down to one float if need be, for which the network's own arithmetic decides. For example, of x * sigmoid(x) with
x from 1000 to 2000, 1000 * sigmoid(1000) and 2000 * sigmoid(2000) are bounds, and a quantiser that saturates at 15 gives
both 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.integer.float_bounds import bounds_behind
from brainsmith.transforms.integer.no_layer import NoLayerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Whole
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_TABLED = 1 << 20
"""Integers of a function that are tried one by one."""

_MOST_VALUES = 1 << 24
"""Values of all channels that are tried."""

_FIRST, _PARTS = 1024, 8
"""Intervals of each channel at first, and into how many one is divided."""

_MOST_INTERVALS = 1 << 22
"""Intervals of all channels, together."""


@dataclass(frozen=True)
class LevelRuns:
    """The levels of one channel, in runs of integers that have one level.

    Attributes:
        starts: The first integer of each run, rising.
        levels: Of each run.
    """

    starts: Whole
    levels: Whole

    @classmethod
    def of(cls, numbers: Whole, levels: Whole) -> LevelRuns:
        """Return the runs of consecutive intervals that begin at some numbers, rising."""
        first = np.append(True, np.diff(levels) != 0)
        return cls(numbers[first], levels[first])

    @property
    def places(self) -> Whole:
        """The integers at which the level changes."""
        return self.starts[1:]

    @property
    def changes(self) -> Whole:
        """By how much it changes there."""
        return np.diff(self.levels)


def all_integers(tensor: IntegerTensor) -> Whole | None:
    """Return the integers of each channel from the least of all to the greatest, kept in the channel's range.

    Returns:
        (channels or 1, integers); None if they are too many to be tried.
    """
    low, high = tensor.range.ends
    if high - low >= MOST_TABLED or (high - low) * tensor.told_apart > _MOST_VALUES:
        return None
    return np.clip(np.arange(low, high + 1)[None], *(end[:, None] for end in tensor.range))


def too_many(tensor: IntegerTensor) -> NoLayerError:
    """Return why a function of so many integers has no layer."""
    low, high = tensor.range.ends
    return NoLayerError(
        f"a function of {high - low + 1} different integers, and no more than {MOST_TABLED} are tried",
        "put a quantiser before it",
    )


def level_runs(tensor: IntegerTensor, staircase: Staircase) -> list[LevelRuns]:
    """Return a quantiser's levels of any function of integers, one for each channel or one for all.

    Raises:
        NoLayerError: Neither can its integers be tried, nor are its levels proven in intervals; or it is not defined for
            some of them.
    """
    numbers = all_integers(tensor)
    if numbers is not None:
        levels = _levels(tensor, staircase, numbers)
        places = np.arange(*tensor.range.ends, dtype=np.int64)
        places = np.append(places, tensor.range.ends[1])
        return [LevelRuns.of(places, row) for row in levels]
    return _in_intervals(tensor, staircase)


def _levels(tensor: IntegerTensor, staircase: Staircase, numbers: Whole) -> Whole:
    with np.errstate(all="ignore"):
        values = tensor.values(numbers)
        if np.isnan(values).any():
            raise NoLayerError(
                "a function that is not defined for some of its integers",
                "clip what goes into it to where it is",
            )
        return np.asarray(staircase.levels(values))


def _in_intervals(tensor: IntegerTensor, staircase: Staircase) -> list[LevelRuns]:
    channels = max(tensor.told_apart, staircase.channels)
    low, high = (np.broadcast_to(end, (channels,)) for end in tensor.range)
    open_ = [_divided(*ends, _FIRST) for ends in zip(low[:, None], high[:, None], strict=True)]
    found: list[list[tuple[Whole, Whole]]] = [[] for _ in range(channels)]
    tried = 0
    while any(len(first) for first, _ in open_):
        tried += channels * max(len(first) for first, _ in open_)
        if tried > _MOST_INTERVALS:
            raise too_many(tensor)
        levels, decided = _decided(tensor, staircase, open_)
        for at, (first, last) in enumerate(open_):
            own = decided[at, : len(first)]
            found[at].append((first[own], levels[at, : len(first)][own]))
            open_[at] = _divided(first[~own], last[~own], _PARTS)
    return [_joined(own) for own in found]


def _joined(found: list[tuple[Whole, Whole]]) -> LevelRuns:
    starts, levels = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(starts)
    return LevelRuns.of(starts[order], levels[order])


def _divided(first: Whole, last: Whole, parts: int) -> tuple[Whole, Whole]:
    """Return the first and the last integers of intervals, each divided into parts."""
    steps = np.linspace(0.0, 1.0, parts + 1)
    cuts = first[:, None] + np.rint(steps * (last + 1 - first)[:, None]).astype(np.int64)
    starts, ends = cuts[:, :-1].reshape(-1), cuts[:, 1:].reshape(-1) - 1
    kept = starts <= ends
    return starts[kept], ends[kept]


def _decided(
    tensor: IntegerTensor, staircase: Staircase, intervals: Sequence[tuple[Whole, Whole]]
) -> tuple[Whole, Whole]:
    """Return the level of the first integer of each interval, and whether all of it has this level."""
    first, last = (_stacked([pair[at] for pair in intervals]) for at in (0, 1))
    levels = _levels(tensor, staircase, first)
    floats = [tensor.floats(end) for end in (first, last)]
    with np.errstate(all="ignore"):
        bounds = bounds_behind(tensor.links, (np.minimum(*floats), np.maximum(*floats)))
        ends = [np.asarray(staircase.levels(np.nan_to_num(end))) for end in bounds]
    known = ~(np.isnan(bounds[0]) | np.isnan(bounds[1])) & (ends[0] == ends[1]) & (ends[0] == levels)
    return np.broadcast_to(levels, first.shape), (floats[0] == floats[1]) | known


def _stacked(rows: Sequence[Whole]) -> Whole:
    """Return rows of the length of the longest: the others end in what they have last."""
    most = max(map(len, rows))
    return np.stack(
        [np.pad(row, (0, most - len(row)), mode="edge" if len(row) else "constant") for row in rows]
    )
