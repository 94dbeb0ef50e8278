"""Arithmetic, element by element, broadcasting as ONNX does."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable


def _fold(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what combines any number of tensors, from left to right."""
    return lambda *values: reduce(function, values)


def _relu(values: Array) -> Any:
    return np.maximum(values.dtype.type(0), values)  # of two zeros x86 takes the second, as ONNX Runtime does


def _leaky(values: Array, slope: Array) -> Any:
    return np.where(values < 0, values * slope, values)


def _sigmoid(values: Array) -> Any:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(values))
    return np.where(values >= 0, 1 / (1 + small), small / (1 + small)).astype(values.dtype, copy=False)


def _hard_sigmoid(values: Array, alpha: Array, beta: Array) -> Any:
    kind = values.dtype.type
    return np.clip(values * alpha + beta, kind(0), kind(1))


def _quotient(left: Array, right: Array) -> Any:
    """Divide; whole numbers towards 0."""
    if left.dtype.kind not in "iu":
        return np.divide(left, right)
    quotient, rest = np.divmod(left, right)
    return np.asarray(quotient + ((rest != 0) & ((left < 0) != (right < 0))), quotient.dtype)


def _mean(*values: Array) -> Any:
    return reduce(np.add, values) / values[0].dtype.type(len(values))


def _power_of_half(values: Array, _: Array) -> Any:
    """Raise to 0.5 as IEEE 754 has it: of -inf that is inf and of -0 it is 0, where a square root has NaN and -0."""
    result = np.sqrt(values)
    np.add(result, 0, out=result)
    if not values.min(initial=0) >= 0:  # looked at first, since hardly any model takes this of -inf or NaN
        np.copyto(result, np.inf, where=values == -np.inf)
    return result


def _where(condition: Array, yes: Array, no: Array) -> Any:
    """Choose; of floats, a -0 that is chosen from `yes` comes out as 0, as from ONNX Runtime."""
    return np.where(condition, yes + yes.dtype.type(0) if yes.dtype.kind == "f" else yes, no)


def _distance(left: Array, right: Array) -> Any:
    return np.abs(left - right)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": np.absolute, "AbsDiff": _distance, "Add": np.add, "And": np.logical_and, "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor, "Ceil": np.ceil, "Cos": np.cos, "Div": _quotient,
    "Equal": np.equal, "Exp": np.exp, "Floor": np.floor, "Greater": np.greater, "GreaterOrEqual": np.greater_equal,
    "HardSigmoid": _hard_sigmoid, "IsNaN": np.isnan, "LeakyRelu": _leaky, "Less": np.less,
    "LessOrEqual": np.less_equal, "Log": np.log, "Max": _fold(np.maximum), "Mean": _mean, "Min": _fold(np.minimum),
    "Mul": np.multiply, "Neg": np.negative, "Not": np.logical_not, "Or": np.logical_or, "PRelu": _leaky,
    "Pow": np.power, "PowHalf": _power_of_half, "Ratio": np.divide, "Reciprocal": np.reciprocal, "Relu": _relu,
    "Round": np.rint, "ShiftLeft": np.left_shift, "ShiftRight": np.right_shift, "Sigmoid": _sigmoid, "Sign": np.sign,
    "Sin": np.sin, "Sqrt": np.sqrt, "Square": lambda x, _: np.multiply(x, x), "Sub": np.subtract, "Sum": _fold(np.add),
    "Tanh": np.tanh, "Where": _where, "Xor": np.logical_xor,
}  # fmt: skip
"""By ONNX's operator, or by the end of the name of FINN's layer: an ElementwiseDiv is a `Ratio`, of whole numbers too.

`Square` and `PowHalf` are a Pow by these exponents, which they do not look at; shifts have their direction.
"""


@instruction
def apply(*values: Array, name: str) -> Array:
    """Apply a function to values, broadcasting."""
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[name](*values))


@instruction
def scale_and_shift(values: Array, factors: Array, offsets: Array) -> Array:
    """Multiply, then add, each rounded."""
    result = np.multiply(values, factors)
    return np.asarray(np.add(result, offsets, out=result))


@instruction
def clip(values: Array, low: Array, high: Array) -> Array:
    """Replace what is below `low` or above `high` by these."""
    raised = np.asarray(np.maximum(low, values))  # as in _relu
    return np.asarray(np.minimum(high, raised, out=raised))
