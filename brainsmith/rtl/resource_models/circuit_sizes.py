"""Sizes that circuits are made of, for arrays of parameters: counters, trees of adders, tables."""

from __future__ import annotations

from typing import Any

import numpy as np

_LEVELS = 16
"""More than any tree of adders has."""

_INPUTS = 6
"""Of a LUT."""


def ceiling(number: Any, by: Any) -> Any:
    """Return a quotient of whole numbers, rounded up."""
    return -(-np.asarray(number) // by)


def counter_bits(states: Any) -> Any:
    """Return the bits of a counter with some states: none for one."""
    return np.ceil(np.log2(np.maximum(np.asarray(states), 1))).astype(np.int64)


def adder_bits(terms: Any, bits: Any) -> Any:
    """Return the bits of all adders of a tree (`add_multi.sv`): each level's sums have a bit more than its terms.

    All levels are full but the first one: it adds as many pairs of terms as the second level has too few places for.

    Args:
        terms: That are added up.
        bits: Of one.
    """
    levels = counter_bits(terms)
    total = np.where(levels > 0, (terms - (1 << np.maximum(levels - 1, 0))) * (bits + 1), 0)
    for level in range(_LEVELS):
        total = total + np.where(level < levels - 1, (1 << level) * (bits + levels - level), 0)
    return total


def waiting_terms(terms: Any) -> Any:
    """Return how many terms of such a tree skip its first level, and wait in a register meanwhile."""
    return (1 << counter_bits(terms)) - terms


def table_luts(words: Any) -> Any:
    """Return the LUTs of one bit of a table in logic; none for two words.

    Up to four have multiplexers of their own (MUXF7, MUXF8).
    """
    leaves = 1 << counter_bits(ceiling(words, 1 << _INPUTS))
    return np.where(np.asarray(words) > 2, leaves + np.where(leaves > 4, ceiling(leaves, 3), 0), 0)


def distinct_functions(words: Any, bits: Any) -> Any:
    """Return how many of a table's bits are not the same as another's, if its contents are random.

    Tables of few words have few functions, constants aside: two words 2, four words 14. What two bits share is built once.

    Args:
        words: Of the table.
        bits: Of all tables with this address together.
    """
    functions = 2.0 ** np.minimum(words, 64) - 2
    return np.where(functions > 0, functions * -np.expm1(-bits / np.maximum(functions, 1)), 0)
