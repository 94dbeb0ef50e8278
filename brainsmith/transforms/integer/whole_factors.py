"""Whole factors with which a sum of several scales gives the same levels as the network, or nearly the same."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.transforms.integer.threshold_rows import ThresholdRows
from brainsmith.transforms.lattice.search import FLOAT_END, find_steps, float_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.scaled_sum import ScaledSum, SumRow
    from brainsmith.transforms.lattice.array_kinds import Singles, Whole
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_FACTOR = 1 << 12
"""Factors beyond are not tried."""

MOST_WEIGHT = (1 << 15) - 1
"""A weight times its factor, without its sign: of 16 bits."""

MOST_SUM = FLOAT32_END
"""Factors that make greater sums are tried only where nothing else decides the levels."""

_BESIDE = 32
"""Combinations on each side of a step that are tried before all others."""

_MEASURED = 64
"""Channels in which an approximation is measured."""

_HALF_ULP = 2.0**-24

_DOUBLES = 2.0**-48
"""By how much exact factors may seem off, which are computed in doubles; others of this size are off by more than 2^-25."""


@dataclass(frozen=True)
class CommonUnit:
    """Factors of one channel, each nearly its scale over one unit.

    Attributes:
        factors: They, one for each term.
        unit: What one is worth.
        error: By how much a factor's worth is off its scale, as a part of it: the greatest.
    """

    factors: Whole
    unit: float
    error: float

    @property
    def is_near(self) -> bool:
        """Whether the factors are not exact."""
        return self.error > _DOUBLES


def float_steps(tensor: IntegerTensor, staircase: Staircase) -> Singles:
    """Return the least float with which each level is reached after a tensor's pending operators.

    Returns:
        (channels or 1, levels), of floats that are turned where the operators fall: -x in place of x.
    """
    told_apart = max(staircase.channels, *(link.channels for link in tensor.links), 1)
    way = tensor.direction

    def levels(numbers: Whole) -> Whole:
        values = float_of(numbers) * way[:, None].astype(np.float32)
        return staircase.levels(tensor.applied(values))

    ends = np.asarray([-FLOAT_END]), np.asarray([FLOAT_END])
    with np.errstate(all="ignore"):
        return float_of(find_steps(levels, staircase.reached, *ends, told_apart))


def deciding_factors(total: ScaledSum, staircase: Staircase) -> tuple[list[Whole], ThresholdRows] | None:
    """Return the smallest whole factors whose sum decides each level, for every combination of integers that can come in.

    The levels of all combinations are computed with the network's own arithmetic. Factors decide them if at each step
    every sum below it is less than every one above it. Of two terms, the ratios that do form an interval around that of
    the scales, so the simplest fraction in it lies on the way there in the tree of Stern and Brocot; of more, multiples of
    the scales are tried, rounded, from the smallest on.

    Returns:
        Factors of each row, and the thresholds of their sum; or None if there are none, or there are too many
        combinations to tell.
    """
    steps = float_steps(total.chain, staircase)
    way = np.broadcast_to(total.chain.direction, (max(len(steps), len(total.rows)),))
    steps = np.broadcast_to(steps, (len(way), steps.shape[1]))
    factors: list[Whole] = []
    rows: list[Whole] = []
    for at, row in enumerate(total.rows):
        own = slice(at, at + 1) if len(total.rows) > 1 else slice(None)
        found = _separating(total, row, steps[own], way[own])
        if found is None:
            return None
        factors.append(found[0])
        rows += found[1]
    return factors, ThresholdRows(np.stack(rows), total.chain.direction, staircase.low)


def _separating(
    total: ScaledSum, row: SumRow, steps: Singles, way: Whole
) -> tuple[Whole, list[Whole]] | None:
    """Return factors of a row that keep what is below each step apart from what is above, and the thresholds."""
    points = row.points()
    if points is None:
        return None
    values = total.values(row, points)
    order = np.argsort(values, kind="stable")
    points, values = points[:, order], values[order]
    # How many combinations are below a step: where the values are turned, those that have it behind them.
    cuts = [
        np.searchsorted(values, each, "left") if sign > 0 else np.searchsorted(values, -each, "right")
        for each, sign in zip(steps, way, strict=True)
    ]
    between = np.unique(np.concatenate(cuts))
    between = between[(between > 0) & (between < len(values))]
    beside = np.unique(np.clip(between[:, None] + np.arange(-_BESIDE, _BESIDE), 0, len(values) - 1))
    near, near_cuts = points[:, beside], np.searchsorted(beside, between)
    for factors in _candidates(row):
        if (np.abs(factors) * row.weights).max(initial=0) > MOST_WEIGHT:
            return None
        if not _apart(factors @ near, near_cuts) or not _apart(sums := factors @ points, between):
            continue
        if np.abs(sums).max() >= MOST_SUM:
            return None
        return factors, [_thresholds(sums, each, sign) for each, sign in zip(cuts, way, strict=True)]
    return None


def _apart(sums: Whole, cuts: Whole) -> bool:
    """Tell whether, at each cut, all sums before it are less than all after it."""
    before = np.maximum.accumulate(sums)[cuts - 1]
    behind = np.minimum.accumulate(sums[::-1])[::-1][cuts]
    return bool((before < behind).all())


def _thresholds(sums: Whole, cuts: Whole, sign: int) -> Whole:
    """Return the least sum, turned by the sign, with which each level is reached; one more than all where none is."""
    if sign > 0:
        least = np.append(np.minimum.accumulate(sums[::-1])[::-1], sums.max() + 1)
        return least[cuts]
    most = np.insert(np.maximum.accumulate(sums), 0, sums.min() - 1)
    return -most[cuts]


def _candidates(row: SumRow) -> Iterator[Whole]:
    """Give whole factors near the proportions of the scales, the smallest first."""
    signs, sizes = np.sign(row.scales).astype(np.int64), np.abs(row.scales)
    if np.count_nonzero(sizes) < 2:
        yield signs
        return
    if len(sizes) == 2:
        largest = 2 * int(np.subtract(*row.range[::-1]).max() + 1)
        for b, a in _towards(sizes[1] / sizes[0], largest):
            yield np.asarray([a, b]) * signs
        return
    shares, before = sizes / sizes.max(), None
    for most in range(1, MOST_FACTOR + 1):
        factors = np.rint(shares * most).astype(np.int64)
        if before is None or (factors != before).any():
            yield factors * signs
        before = factors


def _towards(ratio: float, largest: int) -> Iterator[tuple[int, int]]:
    """Give the fractions on the way to a ratio in the tree of Stern and Brocot, as numerators and denominators."""
    low, high = (0, 1), (1, 0)
    while True:
        middle = low[0] + high[0], low[1] + high[1]
        if max(middle) > largest:
            return
        yield middle
        value = middle[0] / middle[1]
        if value == ratio:
            return
        low, high = (middle, high) if value < ratio else (low, middle)


def common_units(
    rows: Sequence[SumRow], exact: bool, near: bool = False, end: int = MOST_SUM
) -> list[CommonUnit] | None:
    """Return factors of each row that are its scales over a unit, up to rounding.

    Args:
        rows: Of a sum.
        exact: Whether no factor may be off by more than the rounding of the sum in float32, so that a level can differ
            at a float tie alone: by n / 2^24, where n numbers are added. Else the closest factors are returned.
        near: Whether the smallest factors with which a sum is off by less than 1/16 of the least scale are close enough.
        end: What sums are less than.

    Returns:
        One for each row; None if a row has none.
    """
    known: dict[tuple[object, ...], CommonUnit | None] = {}
    found = []
    for row in rows:
        arrays = (row.scales, row.weights, row.largest, row.offsets)
        key = (*(array.tobytes() for array in arrays), row.constant, row.summands)
        if key not in known:
            known[key] = _exact_unit(row, end) if exact else _closest_unit(row, near, end)
        unit = known[key]
        if unit is None:
            return None
        found.append(unit)
    return found


def _exact_unit(row: SumRow, end: int) -> CommonUnit | None:
    """Return factors that float32's rounding hides; where it rounds no sum of the row, those that are exact alone."""
    return next((each for each in _units(row, end) if each.error <= rounding_of(row)), None)


def rounding_of(row: SumRow) -> float:
    """Return by which part of itself each scale may be off, so that float32's rounding of the sum hides it."""
    return max(0.0 if is_exact(row) else row.summands * _HALF_ULP, _DOUBLES)


def is_exact(row: SumRow) -> bool:
    """Tell whether float32 holds each sum of a row: whole multiples, less than 2^24, of one power of two."""
    numbers = [Fraction(float(each)) for each in (*row.scales, *row.offsets, row.constant) if each]
    units = [Fraction(each.numerator & -each.numerator, each.denominator) for each in numbers]
    unit = min(units, default=Fraction(1))
    reached = sum(
        abs(Fraction(float(scale))) * int(most) for scale, most in zip(row.scales, row.largest, strict=True)
    )
    reached += sum((abs(Fraction(float(each))) for each in (*row.offsets, row.constant)), Fraction())
    return reached < FLOAT32_END * unit


def _closest_unit(row: SumRow, near: bool, end: int) -> CommonUnit | None:
    """Return the factors whose sum is off by least, or the smallest that are close enough."""
    allowed = float(np.abs(row.scales[row.scales != 0]).min(initial=np.inf)) / 16 if near else -1.0
    units = list(_units(row, end))
    close = (unit for unit in units if error_bound(row, unit) <= allowed)
    return next(close, None) or min(units, key=lambda each: error_bound(row, each), default=None)


def error_bound(row: SumRow, unit: CommonUnit) -> float:
    """Return by how much a sum in a unit can be off at most."""
    return float((np.abs(row.scales - unit.factors * unit.unit) * row.farthest).sum())


def _units(row: SumRow, end: int) -> Iterator[CommonUnit]:
    """Give all units that make factors, weights and sums small enough, the largest unit first."""
    sizes = np.abs(row.scales)
    if not sizes.any():
        yield with_sizes(row, np.zeros(sizes.shape, np.int64))
        return
    shares = sizes / sizes.max()
    for most in range(1, MOST_FACTOR + 1):
        factors = np.rint(shares * most).astype(np.int64)
        if (factors * row.weights).max() > MOST_WEIGHT or (factors * row.largest).sum() >= end:
            return
        yield with_sizes(row, factors)


def with_sizes(row: SumRow, factors: Whole) -> CommonUnit:
    """Return the unit with which factors of the scales without their signs are off by least."""
    sizes = np.abs(row.scales)
    if not factors.any():
        return CommonUnit(factors, 1.0, 0.0)
    shares = factors.astype(np.float64)
    unit = float(sizes @ shares / (shares @ shares))
    error = float((np.abs(sizes - shares * unit)[sizes > 0] / sizes[sizes > 0]).max())
    return CommonUnit(factors * np.sign(row.scales).astype(np.int64), unit, error)


def differing(
    total: ScaledSum, units: Sequence[CommonUnit], steps: Singles, way: Whole, count: int
) -> tuple[float, int]:
    """Measure on random integers how many levels differ where the scales are a unit's.

    Returns:
        The share of levels that differ, and by how many steps at most they can, for any integers.
    """
    channels = max(len(steps), len(total.rows))
    tried = np.unique(np.linspace(0, channels - 1, min(channels, _MEASURED)).astype(int))
    wrong, most = 0, 0
    for at in tried:
        row, unit = total.row_of(at), units[at if len(units) > 1 else 0]
        own, sign = steps[at % len(steps)], way[at % len(way)]
        points = total.draw(at, count)
        right = np.searchsorted(own, sign * total.values(row, points), "right")
        offset = row.offset_in(unit.unit, unit.factors)
        near = np.asarray(unit.unit * (unit.factors @ points) + offset, np.float32)
        wrong += int((np.searchsorted(own, sign * near, "right") != right).sum())
        bound = error_bound(row, unit)
        low, high = _ends(row)
        inside = own[(own >= low - bound) & (own <= high + bound)].astype(np.float64)
        reached = np.searchsorted(inside, inside + bound, "right") - np.arange(len(inside))
        most = max(most, *chain(reached.tolist(), [0]))
    return wrong / (len(tried) * count), most


def _ends(row: SumRow) -> tuple[float, float]:
    size = float(np.abs(row.scales) @ row.farthest) + abs(row.fixed)
    return -size, size
