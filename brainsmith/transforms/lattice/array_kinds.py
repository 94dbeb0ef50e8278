"""The arrays of this package, by what they hold."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Singles: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
"""Values, rounded as a network's operators round."""

Doubles: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
"""Scales and offsets."""

Whole: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
"""Numbers and levels."""


def one_of_equal(values: Any) -> Any:
    """Return one number in place of equal ones."""
    return values[:1] if values.size and (values == values[0]).all() else values
