"""Arithmetic, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from brainsmith.execution.program.table import instruction

Array = np.ndarray[Any, Any]


@instruction
def add(left: Array, right: Array) -> Array:
    """Add, broadcasting."""
    return np.add(left, right)


@instruction
def relu(values: Array) -> Array:
    """Replace what is below 0 by 0."""
    return np.maximum(values, values.dtype.type(0))


@instruction
def multiply(left: Array, right: Array) -> Array:
    """Multiply, broadcasting."""
    return np.multiply(left, right)
