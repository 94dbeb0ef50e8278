"""Sums of several scales by factors of many bits: exact up to float32's rounding, where no small factors are.

Such factors are split into digits, each small enough for the weights of a layer: `sum(n * factor)` is the sum over the
digits of `2^place * sum(n * digit)`. A sum of many bits is compared with thresholds, or read, as any other integer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.integer_range import ACCUMULATOR_END
from brainsmith.transforms.integer.whole_factors import MOST_WEIGHT, CommonUnit, rounding_of, with_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.scaled_sum import ScaledSum, SumRow
    from brainsmith.transforms.lattice.array_kinds import Whole

_FEWEST_BITS = 4
"""Of a digit: smaller ones would be more layers than a sum is worth."""

_MOST_BITS = 46
"""Of a factor: as many as a sum may have."""

_TRIED = 1 << 14
"""Factors that are tried, of all terms of a row."""


def fine_units(rows: Sequence[SumRow]) -> list[CommonUnit] | None:
    """Return factors of each row, however large, that float32's rounding hides; None if sums would be too large."""
    found = [_fine_unit(row) for row in rows]
    return None if None in found else [unit for unit in found if unit is not None]


def _fine_unit(row: SumRow) -> CommonUnit | None:
    sizes = np.abs(row.scales)
    used = sizes > 0
    if not used.any():
        return with_sizes(row, np.zeros(sizes.shape, np.int64))
    few = max(_TRIED // len(sizes), 1)  # smaller factors make smaller sums
    greatest = np.concatenate([np.arange(1, few + 1), 1 << np.arange(few.bit_length(), _MOST_BITS + 1)])
    factors = np.rint(np.outer(greatest, sizes / sizes.max()))
    units = factors @ sizes / (factors * factors).sum(axis=1)
    errors = (np.abs(sizes - factors * units[:, None])[:, used] / sizes[used]).max(axis=1)
    found = np.flatnonzero((errors <= rounding_of(row)) & (factors @ row.largest < ACCUMULATOR_END))
    return with_sizes(row, factors[found[0]].astype(np.int64)) if found.size else None


def sum_in_digits(
    build: LayerBuilder, total: ScaledSum, factors: Sequence[Whole], base: str
) -> IntegerTensor | None:
    """Return a sum of integers times factors.

    Args:
        build: Makes its layers.
        total: The sum.
        factors: Of each row, with signs.
        base: Of the layers' names.

    Returns:
        None if its weights have too many bits themselves.
    """
    if total.added:
        return total.layers(factors)
    heaviest = max(int(row.weights.max(initial=1)) for row in total.rows)
    bits = (MOST_WEIGHT // heaviest + 1).bit_length() - 1
    if bits < _FEWEST_BITS:
        return None
    most = max(int(np.abs(each).max(initial=0)) for each in factors)
    places = range(0, max(most.bit_length(), 1), bits)
    digits = [
        [np.sign(each) * ((np.abs(each) >> place) & ((1 << bits) - 1)) for each in factors]
        for place in places
    ]
    parts = [total.layers(each) for each in digits]
    return replace(
        build.added(parts, np.asarray([[1 << place for place in places]]), base), order=parts[0].order
    )
