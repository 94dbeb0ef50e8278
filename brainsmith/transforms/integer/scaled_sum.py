"""ScaledSum: a sum of integers of several scales, to which a quantiser after it gives whole factors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.integer_range import IntegerRange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Doubles, Singles, Whole
    from brainsmith.transforms.lattice.links import ChainLink

_WHOLE = 2.0**-32
"""By which part a shift that is whole may seem off, as it is computed in doubles."""

MOST_POINTS = 1 << 20
"""Combinations of integers, of all channels, that are tried one by one."""


@dataclass(frozen=True)
class SumRow:
    """One channel of a sum: `scales[0] * n0 + scales[1] * n1 + ... + offset`, where each n is an integer.

    For example, of a product of [x, y, z] whose scales are 0.3, 0.3 and 0.7, and a column of weights [2, -1, 3]: n0 is
    2 x - y, n1 is 3 z, and the scales are [0.3, 0.7].

    Attributes:
        scales: 0 where a term is constant.
        range: Between which integers the n of each term lies.
        values: All n of each term, rising; None if they are too many to be combined.
        weights: The greatest weight, without its sign, by which an integer of a term is multiplied already.
        offsets: What is added to each term.
        summands: How many numbers the network adds.
        constant: What is added to their sum.
    """

    scales: Doubles
    range: IntegerRange
    values: tuple[Whole, ...] | None
    weights: Whole
    offsets: Doubles
    summands: int
    constant: float = 0.0

    @property
    def shifts(self) -> Doubles:
        """What is added to n, so that `scale * (n + shift)` is a term with its offset: whole where it is a zero point."""
        with np.errstate(all="ignore"):
            found = np.where(self.scales != 0, self.offsets / self.scales, 0.0)
        whole = np.rint(found)
        return np.asarray(
            np.where(np.abs(found - whole) <= _WHOLE * np.maximum(np.abs(whole), 1.0), whole, found)
        )

    @property
    def fixed(self) -> float:
        """What is added in all beside the shifts of terms."""
        return float(self.offsets[self.scales == 0].sum()) + self.constant

    def offset_in(self, unit: float, factors: Whole) -> float:
        """Return what is added in all where the scales are factors times a unit: where each value is 0, so is their sum."""
        return unit * float(factors @ self.shifts) + self.fixed

    @property
    def largest(self) -> Whole:
        """The greatest n of each term, without its sign."""
        return np.maximum(*map(np.abs, self.range))

    @property
    def farthest(self) -> Doubles:
        """The greatest n + shift of each term, without its sign."""
        return np.maximum(*(np.abs(end + self.shifts) for end in self.range))

    def points(self) -> Whole | None:
        """Return all combinations, (terms, combinations); None if they are too many."""
        if self.values is None:
            return None
        grid = np.meshgrid(*self.values, indexing="ij")
        if not grid:
            return np.zeros((0, 1), np.int64)
        return np.stack([numbers.reshape(-1) for numbers in grid])


@dataclass(frozen=True)
class ScaledSum:
    """A sum of integers whose scales have no common unit, and the operators that are still to be applied to it.

    Attributes:
        chain: Its shape and its pending operators, as those of a tensor of scale 1.
        rows: One for each channel, or one for all.
        layers: Makes the layers that add the integers, each times a whole factor: one array of factors for each row.
        draw: Gives some random combinations of integers that can come in, of a row: (terms, count).
        terms: The same sum as tensors of one scale for each channel, to be added as floats; made when asked for.
        added: Whether these are tensors that the network adds itself, each a float32 of its own.
    """

    chain: IntegerTensor
    rows: tuple[SumRow, ...]
    layers: Callable[[Sequence[Whole]], IntegerTensor]
    draw: Callable[[int, int], Whole]
    terms: Callable[[], list[IntegerTensor]]
    added: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in the network."""
        return self.chain.shape

    def behind(self, link: ChainLink) -> ScaledSum | None:
        """Return what a further operator makes of it; None if its operands are neither one nor one for each channel."""
        chain = self.chain.behind(link)
        return None if chain is None else replace(self, chain=chain)

    def values(self, row: SumRow, points: Whole) -> Singles:
        """Return the network's floats of combinations of integers, (terms, any), before pending operators."""
        if not self.added:
            shifted = row.scales[:, None] * (points + row.shifts[:, None])
            return np.asarray(shifted.sum(axis=0) + row.fixed, np.float32)
        parts = row.scales[:, None] * points
        return np.asarray(reduce(np.add, np.asarray(parts + row.offsets[:, None], np.float32)))

    def row_of(self, channel: int) -> SumRow:
        """Return the row of a channel."""
        return self.rows[channel if len(self.rows) > 1 else 0]


@dataclass(frozen=True)
class Term:
    """Integers of one scale that are added: each weight times an integer of a range."""

    scale: float
    weights: Whole
    range: IntegerRange


def row_of(terms: Sequence[Term], offsets: Doubles, most: int, constant: float = 0.0) -> SumRow:
    """Return a row of terms.

    Args:
        terms: They.
        offsets: What is added to each.
        most: How many combinations may be listed.
        constant: What is added to their sum.
    """
    sums = [term.range.sums(term.weights[:, None]).ends for term in terms]
    # Sums of two sets of integers are at least as many as the sizes of both, less 1.
    fewest = float(np.prod([1.0 + np.subtract(*term.range[::-1]).sum() for term in terms]))
    values: tuple[Whole, ...] | None = () if fewest <= most else None
    for term in terms:
        found = None if values is None else _attainable(term, most // int(np.prod([len(v) for v in values])))
        values = None if found is None or values is None else (*values, found)
    return SumRow(
        np.asarray([term.scale for term in terms], np.float64),
        IntegerRange(*np.asarray(sums, np.int64).reshape(-1, 2).T),
        values,
        np.asarray([np.abs(term.weights).max() for term in terms], np.int64),
        offsets,
        sum(len(term.weights) for term in terms),
        constant,
    )


def _attainable(term: Term, most: int) -> Whole | None:
    """Return all sums of a term, rising; None if they are more than `most`."""
    found = np.zeros(1, np.int64)
    for weight, low, high in zip(term.weights, *term.range, strict=True):
        if (high - low) * len(found) >= most << 2:
            return None
        found = np.unique(np.add.outer(found, weight * np.arange(low, high + 1)))
        if len(found) > most:
            return None
    return found
