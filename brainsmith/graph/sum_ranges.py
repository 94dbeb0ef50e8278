"""Between which whole numbers sums of products lie: of the analysis of models, and of the front end that makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def sum_ends(low: Array | int, high: Array | int, weights: Array) -> tuple[Array, Array]:
    """Return the least and the greatest sum of each column of weights, times values from low to high.

    Args:
        low: The least value: of all, or (terms,).
        high: The greatest.
        weights: (terms, sums), in a type that holds the sums.
    """
    ends = [weights * np.asarray(end).reshape(-1, 1) for end in (low, high)]
    return np.minimum(*ends).sum(axis=0), np.maximum(*ends).sum(axis=0)
