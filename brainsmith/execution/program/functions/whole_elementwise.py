"""Elementwise operations as FINN's layers compute them: whole numbers in 64 bits, others as they are."""

from __future__ import annotations

import numpy as np

from brainsmith.execution.program.functions.arithmetic import FUNCTIONS
from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array

WHOLE = "float32"
"""The type in which whole numbers are combined where it holds all results."""


@instruction
def combine(left: Array, right: Array, *, name: str, types: tuple[str, str], dtype: str = WHOLE) -> Array:
    """Combine two tensors, broadcasting.

    Args:
        left: A stack or a constant.
        right: Likewise.
        name: A key of FUNCTIONS.
        types: In which type of NumPy's each is taken: int64, WHOLE for whole numbers whose results it holds, "" for
            its own.
        dtype: Of the result.
    """
    ready = [
        array.astype(kind, copy=False) if kind else array
        for array, kind in zip((left, right), types, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = np.asarray(FUNCTIONS[name](*ready))
    if WHOLE in types and result.dtype == WHOLE:
        np.add(result, 0, out=result)  # whole numbers have no -0, which a product of floats may be
    return result.astype(dtype, copy=False)


@instruction
def requantise(x: Array, scale: Array, bias: Array, *, low: float, high: float) -> Array:
    """Return `clip(floor(x * scale + bias + 1/2), low, high)`, each step rounded to the type of its operands."""
    with np.errstate(all="ignore"):
        whole = np.floor(x * scale + bias + 0.5)
    return np.clip(whole, low, high).astype(np.float32, copy=False)
