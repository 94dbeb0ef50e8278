"""A sum of two scales without a unit in common: whole factors with which a quantiser behind it gives the same levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_types import Singles, Whole
    from brainsmith.transforms.lattice.links import ChainLink
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_PAIRS = 1 << 20
"""Pairs of integers, times channels, that are tried one by one."""


@dataclass(frozen=True)
class PairTensor:
    """A sum of two tensors of integers, and the operators that are still to be applied to it.

    Attributes:
        terms: Without pending operators of their own, each with one scale for all channels.
        signs: 1 or -1, of each term.
        links: The pending operators.
    """

    terms: tuple[IntegerTensor, IntegerTensor]
    signs: tuple[int, int]
    links: tuple[ChainLink, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the network."""
        return self.terms[0].shape

    def behind(self, link: ChainLink) -> PairTensor | None:
        """Return what a further operator makes of it; None if its operands are neither one nor one for each channel."""
        return None if self.terms[0].behind(link) is None else replace(self, links=(*self.links, link))

    @property
    def direction(self) -> Whole:
        """1 where values rise with the sum, -1 where they fall; one, or one for each channel."""
        found = np.ones(1, np.int64)
        for link in self.links:
            found = found * link.signs
        return found

    def values(self, first: Whole, second: Whole) -> Singles:
        """Return the network's values of pairs of integers, (channels or 1, pairs)."""
        sides = [
            np.asarray(term.scale[:, None] * numbers + term.offset[:, None], np.float32)
            for term, numbers in zip(self.terms, (first, second), strict=True)
        ]
        values = sides[0] * np.float32(self.signs[0]) + sides[1] * np.float32(self.signs[1])
        for link in self.links:
            values = link.apply(values)
        return np.asarray(values)


def whole_factors(pair: PairTensor, staircase: Staircase) -> tuple[tuple[int, int], Whole] | str:
    """Return the smallest whole factors a, b with which `a * n1 + b * n2` decides each level, and where it does.

    The ratios b / a that are right for every pair of integers form an interval around that of the scales, so the
    simplest fraction in it lies on the way to that ratio in the tree of Stern and Brocot. Each fraction on the way is
    tried with all pairs, for which the levels are computed with the network's own arithmetic.

    Returns:
        The factors, and the least sum with which each level is reached, (channels or 1, levels), where rising is as the
        pair's direction says; or why there are none.
    """
    ends = [(int(term.low.min()), int(term.high.max())) for term in pair.terms]
    sizes = [high - low + 1 for low, high in ends]
    channels = max(staircase.channels, *(link.channels for link in pair.links), 1)
    if sizes[0] * sizes[1] * channels > MOST_PAIRS:
        return f"{sizes[0]} x {sizes[1]} pairs of integers are too many to be tried: put a quantiser in front of the sum"
    grid = np.meshgrid(*(np.arange(low, high + 1) for low, high in ends), indexing="ij")
    first, second = (numbers.reshape(1, -1) for numbers in grid)
    with np.errstate(all="ignore"):
        levels = np.broadcast_to(staircase.levels(pair.values(first, second)), (channels, first.size))
    way = np.broadcast_to(pair.direction, (channels,))
    ratio = abs(float(pair.terms[1].scale[0]) / float(pair.terms[0].scale[0]))
    signs = [
        sign * (1 if float(term.scale[0]) > 0 else -1)
        for sign, term in zip(pair.signs, pair.terms, strict=True)
    ]
    wanted = np.arange(staircase.low + staircase.step, staircase.high + 1, staircase.step)
    for b, a in _towards(ratio, 2 * max(sizes)):
        factors = a * signs[0], b * signs[1]
        sums = (factors[0] * first + factors[1] * second)[0]
        rows = _rows(sums, levels, way, wanted)
        if rows is not None:
            return factors, rows
    return "no whole factors of its two scales give the same levels: they are decided by rounding"


def _rows(sums: Whole, levels: Whole, way: Whole, wanted: Whole) -> Whole | None:
    """Return the least sum that reaches each level, if no sum stands for two levels, and they rise with it."""
    rows = []
    for row, sign in zip(levels, way, strict=True):
        turned = sums * sign
        order = np.argsort(turned, kind="stable")
        at, reached = turned[order], row[order]
        rise = np.diff(reached)
        if (rise < 0).any() or (rise[np.diff(at) == 0] != 0).any():
            return None
        places = np.searchsorted(reached, wanted, "left")
        rows.append(np.where(places < len(at), at[np.minimum(places, len(at) - 1)], at[-1] + 1))
    return np.stack(rows)


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
