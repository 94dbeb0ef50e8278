"""Sums of several scales in two digits: exact up to float32's rounding where no factors within 24 bits are.

A sum whose factors need more bits than a tensor holds is `2^bits * upper + lower`, of which each digit is a sum with small
factors. The upper digit decides most levels alone; the lower one matters only beside a threshold. So thresholds first count
the upper digit where it is beside one, and nowhere else: few numbers remain, and the sum with the lower digit is narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.transforms.integer.threshold_rows import MOST_LEVELS, ThresholdRows, quantised
from brainsmith.transforms.integer.whole_factors import MOST_FACTOR, MOST_SUM, MOST_WEIGHT, rounding_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.scaled_sum import ScaledSum, SumRow
    from brainsmith.transforms.lattice.array_kinds import Whole
    from brainsmith.transforms.lattice.staircases import Staircase

_MOST_BITS = 24
"""Of the lower digit."""

MOST_STEPS = 4 * MOST_LEVELS
"""Of the upper digit's count: each layer of thresholds gives so many levels, and their results are added."""

_MOST_TRIED = 1 << 16
"""Factors of a row that are tried."""


@dataclass(frozen=True)
class TwoDigits:
    """Factors of one row: each scale is nearly `(2^bits * upper + lower) * unit`.

    Attributes:
        upper: One for each term.
        lower: Likewise.
        bits: How many the lower digit has.
        unit: What one of the lower digit is worth.
    """

    upper: Whole
    lower: Whole
    bits: int
    unit: float

    def turned(self, sign: int) -> TwoDigits:
        """Return the factors times 1 or -1."""
        return replace(self, upper=self.upper * sign, lower=self.lower * sign)


@dataclass(frozen=True)
class JoinedDigits:
    """What makes one narrow number of both digits: `2^bits * count + lower`.

    Attributes:
        counted: Thresholds of the upper digit; `count` is how many are reached.
        levels: Thresholds of the narrow number.
    """

    counted: ThresholdRows
    levels: ThresholdRows


def in_two_digits(
    build: LayerBuilder, total: ScaledSum, staircase: Staircase, base: str
) -> tuple[IntegerTensor, ThresholdRows] | None:
    """Return a narrow tensor that has what a quantiser needs of a sum, and its thresholds.

    Levels can differ from the network's at float ties alone.

    Returns:
        None if no digits are close enough, or the upper one has too many numbers beside thresholds.
    """
    found = [_digits(total.row_of(at)) for at in range(max(len(total.rows), total.chain.direction.size))]
    digits = [each for each in found if each is not None]
    if len(digits) < len(found):
        return None
    way = np.broadcast_to(total.chain.direction, (len(digits),))
    turned = [each.turned(int(sign)) for each, sign in zip(digits, way, strict=True)]
    rows = [total.row_of(at) for at in range(len(turned))]
    upper = _range_of(rows, [each.upper for each in turned])
    lower = _range_of(rows, [each.lower for each in turned])
    bits = np.asarray([each.bits for each in turned])
    whole = replace(
        total.chain,
        range=upper.times(1 << bits).plus(lower),
        scale=way * np.asarray([each.unit for each in turned]),
        offset=np.asarray(
            [
                row.offset_in(each.unit, (each.upper << each.bits) + each.lower)
                for row, each in zip(rows, digits, strict=True)
            ]
        ),
    )
    joined = joined_digits(quantised(whole, staircase), upper, lower, bits)
    if joined is None:
        return None
    above, below = (total.layers([getattr(each, end) for each in turned]) for end in ("upper", "lower"))
    parts = [
        build.counted_thresholds(above, replace(joined.counted, rows=rows), f"{base}_upper")
        for rows in _in_parts(joined.counted.rows)
    ]
    factors = np.stack([*([1 << bits] * len(parts)), np.ones_like(bits)], axis=1)
    return build.added([*parts, below], factors, f"{base}_digits"), joined.levels


def _range_of(rows: Sequence[SumRow], factors: Sequence[Whole]) -> IntegerRange:
    """Return the least and the greatest sum of each row times factors."""
    sums = [row.range.sums(each[:, None]).ends for row, each in zip(rows, factors, strict=True)]
    return IntegerRange(*np.asarray(sums).T)


def _in_parts(rows: Whole) -> list[Whole]:
    """Return thresholds in as many parts as layers need."""
    return [rows[:, at : at + MOST_LEVELS] for at in range(0, rows.shape[1], MOST_LEVELS)]


def joined_digits(
    whole: ThresholdRows, upper: IntegerRange, lower: IntegerRange, bits: Whole
) -> JoinedDigits | None:
    """Return thresholds of both digits in place of those of their sum, `2^bits * upper + lower`.

    From the least upper digit that may reach a threshold to the least that does, whatever the lower one is, `count` rises
    with it by one each: there both sums differ by a constant, which is added to the threshold. Below and above, the step
    at either end keeps them apart.

    Args:
        whole: Thresholds of the sum, which do not turn it.
        upper: Of each channel, as all others.
        lower: Likewise.
        bits: By how many the upper one is shifted.

    Returns:
        None if the upper digit has too many steps, or what is joined does not fit into 24 bits.
    """
    channels = np.broadcast_arrays(np.arange(len(whole.rows)), bits, *upper, *lower)
    made = [_joined_row(whole.rows[at], *map(int, own)) for at, *own in zip(*channels, strict=True)]
    most = max(1, *(len(steps) for steps, _ in made))
    if most > MOST_STEPS or (most << int(bits.max())) + int(np.abs(lower).max()) >= MOST_SUM:
        return None
    counted = np.stack([np.append(steps, np.full(most - len(steps), upper.ends[1] + 1)) for steps, _ in made])
    one = np.ones(1, np.int64)
    levels = np.stack([thresholds for _, thresholds in made])
    return JoinedDigits(ThresholdRows(counted, one, 0), ThresholdRows(levels, one, whole.low))


def _joined_row(
    row: Whole, bits: int, low: int, high: int, lower_low: int, lower_high: int
) -> tuple[Whole, Whole]:
    """Return at which upper digits the count rises, and the thresholds of what is joined."""
    may, must = (-((end - row) >> bits) for end in (lower_high, lower_low))
    crossed = (row > (low << bits) + lower_low) & (row <= (high << bits) + lower_high)
    places = [
        np.arange(max(a, low + 1), min(b, high) + 1) for a, b in zip(may[crossed], must[crossed], strict=True)
    ]
    steps = np.unique(np.concatenate([np.zeros(0, np.int64), *places]))
    inside = np.clip(may, low, high)
    moved = row + ((np.searchsorted(steps, inside, "right") - inside) << bits)
    never = (len(steps) << bits) + lower_high + 1
    return steps, np.where(crossed, moved, np.where(row > (low << bits) + lower_low, never, lower_low))


def _digits(row: SumRow) -> TwoDigits | None:
    """Return the smallest factors whose lower digit changes the upper one by less than 1, else those with the least."""
    signs, sizes = np.sign(row.scales).astype(np.int64), np.abs(row.scales)
    if not sizes.any():
        return TwoDigits(signs, np.zeros_like(signs), 0, 1.0)
    tried = np.arange(1, max(2, min(MOST_FACTOR, _MOST_TRIED // len(sizes))) + 1)
    factors = np.rint(np.outer(tried, sizes / sizes.max())).astype(np.int64)
    fits = ((factors * row.weights).max(axis=1) <= MOST_WEIGHT) & (factors @ row.largest < MOST_SUM)
    factors = factors[fits]
    if not len(factors):
        return None
    units = factors @ sizes / (factors * factors).sum(axis=1)
    rest = np.abs(sizes / units[:, None] - factors) @ row.largest
    small = np.flatnonzero(rest < 1)
    at = int(small[0]) if small.size else int(rest.argmin())
    return _with_lower(row, signs, factors[at], float(units[at]))


def _with_lower(row: SumRow, signs: Whole, upper: Whole, unit: float) -> TwoDigits | None:
    """Return factors with a lower digit of as few bits as float32's rounding hides; None if its sums are too large."""
    sizes = np.abs(row.scales)
    for bits in range(_MOST_BITS + 1):
        lower = np.rint((sizes / unit - upper) * (1 << bits)).astype(np.int64)
        off = np.abs(sizes - (upper + lower / (1 << bits)) * unit)
        if (off <= rounding_of(row) * sizes).all():
            fits = (np.abs(lower) * row.weights).max() <= MOST_WEIGHT and np.abs(
                lower
            ) @ row.largest < MOST_SUM
            return TwoDigits(upper * signs, lower * signs, bits, unit / (1 << bits)) if fits else None
    return None
