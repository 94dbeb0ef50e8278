"""What ONNX's elementwise operators compute, as numpy code that can be traced: for floats, opset 13 and newer."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

import brainsmith.autodiff.functional  # noqa: F401  defines what ELEMENTWISE has
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE

if TYPE_CHECKING:
    from collections.abc import Callable


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
    **{op.onnx.op_type: op.function for op in ELEMENTWISE.values() if op.onnx is not None},
    "Ceil": np.ceil, "Clip": _clip, "Elu": _elu, "HardSigmoid": _hard_sigmoid, "LeakyRelu": _leaky_relu, "Max": _maximum,
    "Min": _minimum, "Pow": _pow, "Reciprocal": np.reciprocal, "Softplus": _softplus, "Sum": _sum, "Where": np.where,
}  # fmt: skip
"""By type of node: functions of its inputs, None for one that is left out, with its attributes as keywords."""
