"""Elementwise operations as FINN's layers compute them: whole numbers in 64 bits, others as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.table import instruction

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


def _difference(left: Array, right: Array) -> Any:
    return np.abs(left - right)


OPERATIONS: dict[str, Callable[[Array, Array], Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "AbsDiff": _difference,
    "Mul": np.multiply,
    "Div": np.divide,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Max": np.maximum,
    "ShiftLeft": np.left_shift,
    "ShiftRight": np.right_shift,
}
"""By the end of the name of FINN's layer; shifts with their direction."""


WHOLE = "float32"
"""The type in which whole numbers are combined where it holds all results."""


@instruction
def combine(left: Array, right: Array, *, name: str, types: tuple[str, str]) -> Array:
    """Combine two tensors, broadcasting; float32 comes back.

    Args:
        left: A stack or a constant.
        right: Likewise.
        name: A key of OPERATIONS.
        types: In which type of NumPy's each is taken: int64, WHOLE for whole numbers whose results it holds, "" for
            its own.
    """
    ready = [
        array.astype(kind, copy=False) if kind else array
        for array, kind in zip((left, right), types, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = np.asarray(OPERATIONS[name](*ready))
    if WHOLE in types and result.dtype == WHOLE:
        np.add(result, 0, out=result)  # whole numbers have no -0, which a product of floats may be
    return result.astype(np.float32, copy=False)


@instruction
def requantise(x: Array, scale: Array, bias: Array, *, low: float, high: float) -> Array:
    """Return `clip(floor(x * scale + bias + 1/2), low, high)`, each step rounded to the type of its operands."""
    with np.errstate(all="ignore"):
        whole = np.floor(x * scale + bias + 0.5)
    return np.clip(whole, low, high).astype(np.float32, copy=False)
