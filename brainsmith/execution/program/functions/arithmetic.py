"""Arithmetic, element by element, broadcasting as ONNX does."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.table import instruction

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]

_UNARY: dict[str, Callable[..., Any]] = {
    "Abs": np.absolute, "Ceil": np.ceil, "Cos": np.cos, "Exp": np.exp, "Floor": np.floor, "IsNaN": np.isnan,
    "Log": np.log, "Neg": np.negative, "Not": np.logical_not, "Reciprocal": np.reciprocal, "Round": np.rint,
    "Sign": np.sign, "Sin": np.sin, "Sqrt": np.sqrt, "Tanh": np.tanh,
}  # fmt: skip
_BINARY: dict[str, Callable[..., Any]] = {
    "Add": np.add, "And": np.logical_and, "Div": np.divide, "Equal": np.equal, "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal, "Less": np.less, "LessOrEqual": np.less_equal, "Max": np.maximum,
    "Min": np.minimum, "Mul": np.multiply, "Or": np.logical_or, "Pow": np.power, "Sub": np.subtract,
    "Sum": np.add, "Xor": np.logical_xor,
}  # fmt: skip


@instruction
def unary(values: Array, *, name: str) -> Array:
    """Apply an operator of ONNX, by its name, to each value."""
    with np.errstate(all="ignore"):
        return np.asarray(_UNARY[name](values))


@instruction
def binary(*values: Array, name: str) -> Array:
    """Combine two or more tensors by an operator of ONNX, from left to right."""
    with np.errstate(all="ignore"):
        return np.asarray(reduce(_BINARY[name], values))


@instruction
def add(left: Array, right: Array) -> Array:
    """Add, broadcasting."""
    return np.asarray(np.add(left, right))


@instruction
def multiply(left: Array, right: Array) -> Array:
    """Multiply, broadcasting."""
    return np.asarray(np.multiply(left, right))


@instruction
def scale_and_shift(values: Array, factors: Array, offsets: Array) -> Array:
    """Multiply, then add, each rounded."""
    result = np.multiply(values, factors)
    return np.asarray(np.add(result, offsets, out=result))


@instruction
def relu(values: Array) -> Array:
    """Replace what is below 0 by 0."""
    zero = values.dtype.type(0)
    return np.asarray(np.maximum(zero, values))  # of two zeros x86 takes the second, as ONNX Runtime does


@instruction
def clip(values: Array, low: Array | None, high: Array | None) -> Array:
    """Replace what is below `low` or above `high` by these."""
    if low is None:
        return values if high is None else np.asarray(np.minimum(high, values))
    raised = np.asarray(np.maximum(low, values))  # as in relu
    return raised if high is None else np.minimum(high, raised, out=raised)


@instruction
def leaky(values: Array, slope: Array) -> Array:
    """Multiply what is below 0 by a slope."""
    return np.where(values < 0, values * slope, values)


@instruction
def sigmoid(values: Array) -> Array:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(values))
    return np.asarray(np.where(values >= 0, 1 / (1 + small), small / (1 + small)), values.dtype)


@instruction
def hard_sigmoid(values: Array, *, alpha: float, beta: float) -> Array:
    """Return alpha * x + beta, between 0 and 1."""
    kind = values.dtype.type
    return np.asarray(np.clip(values * kind(alpha) + kind(beta), kind(0), kind(1)))


@instruction
def whole_quotient(left: Array, right: Array) -> Array:
    """Divide whole numbers, towards 0."""
    quotient, rest = np.divmod(left, right)
    return np.asarray(quotient + ((rest != 0) & ((left < 0) != (right < 0))), quotient.dtype)


@instruction
def mean(*values: Array) -> Array:
    """Return the mean of several tensors, element by element."""
    return np.asarray(reduce(np.add, values) / values[0].dtype.type(len(values)))


@instruction
def power_of_half(values: Array) -> Array:
    """Raise to 0.5 as IEEE 754 has it: of -inf that is inf and of -0 it is 0, where a square root has NaN and -0."""
    with np.errstate(all="ignore"):
        result = np.sqrt(values)
    np.add(result, 0, out=result)
    if not values.min(initial=0) >= 0:  # looked at first, since hardly any model takes this of -inf or NaN
        np.copyto(result, np.inf, where=values == -np.inf)
    return result


@instruction
def where(condition: Array, yes: Array, no: Array) -> Array:
    """Choose, element by element; of floats, a -0 that is chosen from `yes` comes out as 0, as from ONNX Runtime."""
    return np.where(condition, yes + yes.dtype.type(0) if yes.dtype.kind == "f" else yes, no)
