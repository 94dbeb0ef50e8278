"""Operators that add and multiply tensors, whose results float32 may round: products, sums of products, and sums of two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.comparison.float_ties.bounded_operators import BoundedOperator
from brainsmith.comparison.float_ties.bounded_tensor import (
    UNIT,
    BoundedTensor,
    around,
    certain,
    enlarged,
    gamma,
    rounded,
)
from brainsmith.comparison.float_ties.dyadic_grid import DyadicGrid, grid_of
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.comparison.float_ties.float_sums import FloatSum


OF_FACTORS = 3
"""Roundings that are no additions: of the two factors of a product, and of the sum where integers become floats."""

_ONE = np.ones(())


class RoundedOperator(BoundedOperator):
    """An operator whose results float32 may round, as those of sums."""

    is_sum = True

    def rounds(self, given: Mapping[str, DyadicGrid]) -> bool:
        """Tell whether a result may be rounded."""
        return not self.grids(given)[0].is_exact


@dataclass(frozen=True)
class Product(RoundedOperator):
    """Multiplies two tensors, element by element."""

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid of the products."""
        left, right = (given[name] for name in self.inputs)
        return [left.times(right)]

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Multiply, and bound what roundings of both sides come to."""
        left, right = (given[name] for name in self.inputs)
        (value,) = self.run({name: each.value for name, each in given.items()})
        sizes = [np.abs(each.middle) + each.radius for each in (left, right)]
        radius = sizes[0] * right.radius + left.radius * sizes[1] + gamma(OF_FACTORS) * sizes[0] * sizes[1]
        # Integers go through such a product by the network's own results, one for each.
        ends = [one * other for one in left.rounded_once for other in right.rounded_once]
        nearest = np.minimum.reduce(ends), np.maximum.reduce(ends)
        size = left.sizes * right.sizes
        return [
            around(value, left.middle * right.middle, radius, size, nearest, nearest[0].astype(np.float64))
        ]


@dataclass(frozen=True)
class Pair(RoundedOperator):
    """Adds two tensors, or subtracts one."""

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid of the sums."""
        left, right = (given[name] for name in self.inputs)
        return [left.plus(right)]

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Add ends, and bound the roundings of both sides and of their sum."""
        left, right = (given[name] for name in self.inputs)
        sign = -1.0 if self.node.op_type == "Sub" else 1.0
        (value,) = self.run({name: each.value for name, each in given.items()})
        reached = sum(np.abs(each.middle) + each.radius for each in (left, right))
        radius = left.radius + right.radius + gamma(OF_FACTORS) * reached
        middle, real = left.middle + sign * right.middle, left.exact + sign * right.exact
        # With a common unit both sides are added as integers; without one, as the network adds them.
        ends = [*rounded(real, left.sizes + right.sizes)]
        ends += [
            one + np.float32(sign) * other
            for one, other in zip(left.rounded_once, right.rounded_once, strict=True)
        ]
        nearest = np.minimum.reduce(ends), np.maximum.reduce(ends)
        return [around(value, middle, radius, left.sizes + right.sizes, nearest, real)]


@dataclass(frozen=True)
class Sum(RoundedOperator):
    """Adds products.

    Attributes:
        sum: What it adds.
        names: Of the two factors; the second one is empty for a mean.
        constants: Those of the factors that are constant.
        reals: Of these, those whose scales have been rounded, without that; float64.
    """

    sum: FloatSum = field(kw_only=True)
    names: tuple[str, str] = field(kw_only=True)
    constants: Mapping[str, Array] = field(kw_only=True)
    reals: Mapping[str, Array] = field(kw_only=True)

    def grids(self, given: Mapping[str, DyadicGrid]) -> list[DyadicGrid]:
        """Return the grid of the sums, which a division leaves exact if it is by a power of two."""
        sums = self._undivided(given)
        return [sums if self.sum.divisor == 1 else sums.times(grid_of(1 / self.sum.divisor))]

    def rounds(self, given: Mapping[str, DyadicGrid]) -> bool:
        """Tell whether a partial sum may be rounded."""
        return not self._undivided(given).is_exact

    def _undivided(self, given: Mapping[str, DyadicGrid]) -> DyadicGrid:
        """Return the grid of the sums, undivided; unknown unless each partial sum, in any order, is exact."""
        left, right = (
            given[name] if name in given else grid_of(self.constants.get(name, 1.0)) for name in self.names
        )
        weight, added = self.sum.weight, self.sum.added
        most = left.most * (self.sum.terms * right.most if weight is None else weight)
        found = DyadicGrid(left.step * right.step, most).kept()
        return found if added is None else found.plus(grid_of(added))

    def bounds(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Compute the sums in double precision, and bound what float32 makes of them, in whatever order they are added.

        A sum of n products of floats is off by gamma_n times the sum of their magnitudes at most, and by two more
        roundings of each product where the factors themselves are levels times a scale.
        """
        product = self.sum.product
        value, left, right = self._operands(given)
        sizes = np.abs(left.middle), np.abs(right.middle)
        magnitudes = self._plus(product(*sizes), np.abs)
        spread = gamma(self.sum.terms + OF_FACTORS) * magnitudes
        exact = product(left.exact, right.exact)
        middle = exact  # two roundings of each product away from that of the floats: OF_FACTORS has them
        if not left.is_certain:
            spread = spread + product(left.radius, sizes[1])
        if not right.is_certain:
            spread = spread + product(sizes[0] + left.radius, right.radius)
        if not (left.is_certain and right.is_certain):
            middle = product(left.middle, right.middle)
        size = magnitudes
        if left.size is not None or right.size is not None:
            size = self._plus(product(left.sizes, right.sizes), np.abs)
        once = self._once(exact, size)
        return [around(value, self._plus(middle), spread, size, once, self._plus(exact))]

    def exactly(self, given: Mapping[str, BoundedTensor]) -> list[BoundedTensor]:
        """Compute sums that are not rounded; a mean is rounded by its division, and exact sums are divided alike."""
        value, left, right = self._operands(given)
        if self.sum.divisor == 1:
            return [certain(value)]
        real = self.sum.product(left.exact, right.exact)
        return [BoundedTensor(value, value, value, enlarged(UNIT * np.abs(value)), real=real)]

    def _once(self, exact: Array, size: Array) -> tuple[Array, Array]:
        """Return what a sum, rounded once, becomes by division and by the constant."""
        divisor, added = self.sum.divisor, self.sum.added
        low, high = rounded(exact * divisor, size * divisor)
        if divisor != 1:
            low, high = (end / np.float32(divisor) for end in (low, high))
        if added is not None:
            low, high = (end + added.astype(np.float32) for end in (low, high))
        return low, high

    def _plus(self, sums: Array, function: Callable[[Array], Array] = np.asarray) -> Array:
        return sums if self.sum.added is None else sums + function(self.sum.added)

    def _operands(self, given: Mapping[str, BoundedTensor]) -> tuple[Array, BoundedTensor, BoundedTensor]:
        (value,) = self.run({name: each.value for name, each in given.items()})
        left, right = (
            given[name]
            if name in given
            else replace(certain(self.constants.get(name, _ONE)), real=self.reals.get(name))
            for name in self.names
        )
        return value, left, right
