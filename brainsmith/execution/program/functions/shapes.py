"""Moving values: they stay what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from brainsmith.execution.program.table import instruction

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@instruction
def same(values: Array) -> Array:
    """Return what is given."""
    return values


@instruction
def reshape(values: Array, *, shape: Shape) -> Array:
    """Give each run of a stack another shape."""
    return values.reshape(len(values), *shape)


@instruction
def transpose(values: Array, *, order: Shape) -> Array:
    """Reorder the axes of each run of a stack."""
    return values.transpose(0, *(axis + 1 for axis in order))


@instruction
def cast(values: Array, *, dtype: str) -> Array:
    """Give values another type of NumPy's."""
    return values.astype(dtype, copy=False)
