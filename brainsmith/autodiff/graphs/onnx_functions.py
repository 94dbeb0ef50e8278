"""What ONNX's elementwise operators compute, as numpy code that can be traced: for floats, opset 13 and newer."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import brainsmith.autodiff.functional  # noqa: F401  defines what ELEMENTWISE has
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    raised = x if low is None else np.maximum(x, low)
    return raised if high is None else np.minimum(raised, high)


ONNX_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{op.onnx.op_type: op.function for op in ELEMENTWISE.values() if op.onnx is not None},
    "Ceil": np.ceil,
    "Clip": _clip,
    "Elu": lambda x, alpha=1.0: np.where(x < 0, alpha * np.expm1(x), x),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: np.maximum(np.minimum(x * alpha + beta, 1.0), 0.0),
    "LeakyRelu": lambda x, alpha=0.01: np.where(x < 0, x * alpha, x),
    "Max": lambda *values: reduce(np.maximum, values),
    "Min": lambda *values: reduce(np.minimum, values),
    "Pow": lambda x, y: np.power(x, y).astype(x.dtype),  # the base's type, whatever the exponent's
    "Reciprocal": np.reciprocal,
    "Softplus": lambda x: np.logaddexp(x, 0.0),
    "Sum": lambda *values: reduce(np.add, values),
    "Where": np.where,
}
"""By type of node: functions of its inputs, None for one that is left out, with its attributes as keywords."""
