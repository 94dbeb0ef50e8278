"""What ONNX's elementwise operators compute, as numpy code that can be traced: for floats, opset 13 and newer."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.special import erf

if TYPE_CHECKING:
    from collections.abc import Callable


def _sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))  # cannot overflow
    return np.where(x >= 0, 1.0, small) / (1 + small)


def _leaky_relu(x: Any, alpha: float = 0.01) -> Any:
    return np.where(x < 0, x * alpha, x)


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x < 0, alpha * np.expm1(x), x)


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


def _pow(x: Any, y: Any) -> Any:
    return np.power(x, y).astype(x.dtype)  # the base's type, whatever the exponent's


def _hard_sigmoid(x: Any, alpha: float = 0.2, beta: float = 0.5) -> Any:
    return np.maximum(np.minimum(x * alpha + beta, 1.0), 0.0)


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    raised = x if low is None else np.maximum(x, low)
    return raised if high is None else np.minimum(raised, high)


def _maximum(*values: Any) -> Any:
    return reduce(np.maximum, values)


def _minimum(*values: Any) -> Any:
    return reduce(np.minimum, values)


def _sum(*values: Any) -> Any:
    return reduce(np.add, values)


ONNX_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Abs": np.abs, "Add": np.add, "Ceil": np.ceil, "Clip": _clip, "Cos": np.cos, "Div": np.divide, "Elu": _elu,
    "Erf": erf, "Exp": np.exp, "Floor": np.floor, "Greater": np.greater, "GreaterOrEqual": np.greater_equal,
    "HardSigmoid": _hard_sigmoid, "LeakyRelu": _leaky_relu, "Less": np.less, "LessOrEqual": np.less_equal, "Log": np.log,
    "Max": _maximum, "Min": _minimum, "Mul": np.multiply, "Neg": np.negative, "Not": np.logical_not, "Pow": _pow,
    "Reciprocal": np.reciprocal, "Relu": lambda x: np.maximum(x, 0.0), "Round": np.rint, "Sigmoid": _sigmoid,
    "Sign": np.sign, "Sin": np.sin, "Softplus": _softplus, "Sqrt": np.sqrt, "Sub": np.subtract, "Sum": _sum,
    "Tanh": np.tanh, "Where": np.where,
}  # fmt: skip
"""By type of node: functions of its inputs, None for one that is left out, with its attributes as keywords."""
