"""Products of matrices."""

from __future__ import annotations

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array


@instruction
def product(values: Array, weights: Array, *, exact: str, dtype: str = "float32") -> Array:
    """Multiply values (..., terms) with weights (terms, results) as one matrix product in a type; `dtype` comes back."""
    rows = values.reshape(-1, values.shape[-1]).astype(exact, copy=False)
    result = rows @ weights
    return result.astype(dtype, copy=False).reshape(*values.shape[:-1], weights.shape[1])


@instruction
def matmul(left: Array, right: Array, *, exact: str, dtype: str) -> Array:
    """Multiply stacks of matrices in a type; `dtype` comes back."""
    result = np.matmul(left.astype(exact, copy=False), right.astype(exact, copy=False))
    return np.asarray(result, dtype)
