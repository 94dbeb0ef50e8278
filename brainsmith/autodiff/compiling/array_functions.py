"""The functions of numpy that take stand-ins for arrays, with the arguments that an expression can say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.recorder import StepRecorder, Traced


def reduce(x: Any, name: str, axis: Any = None, keepdims: bool = False) -> Any:
    """Note a reduction."""
    axis = tuple(int(one) for one in axis) if isinstance(axis, tuple | list) else axis
    return x.recorder.note(name, [x], axis=axis, keepdims=bool(keepdims))


def variance(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """As numpy computes it: the mean of the squared distances from the mean."""
    distance = x - reduce(x, "mean", axis, keepdims=True)
    return reduce(distance * distance, "mean", axis, keepdims=keepdims)


def clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Note a clip; without a bound it is a maximum or a minimum, as in numpy."""
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is None:
        return x if high is None else np.minimum(x, high)
    if high is None:
        return np.maximum(x, low)
    return _recorder_of(x, low, high).note("clip", [x, low, high])


def round_(x: Any, decimals: int = 0) -> Any:
    """Note a rounding to integers."""
    if decimals:
        raise x.recorder.refusal(f"rounds to {decimals} decimals")
    return x.recorder.note("round", [x])


def _full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    return x.recorder.note("full_like", [x if dtype is None else x.astype(dtype), fill_value])


def _reduction(name: str) -> Callable[..., Any]:
    return lambda a, axis=None, *, keepdims=False: reduce(a, name, axis, keepdims=keepdims)


TAKEN: dict[str, Callable[..., Any]] = {
    **{name: _reduction(name) for name, one in FUNCTIONS.items() if one.reduces},
    "var": variance,
    "std": lambda x, axis=None, *, keepdims=False: np.sqrt(variance(x, axis, keepdims=keepdims)),
    "where": lambda condition, x, y: _recorder_of(condition, x, y).note("where", [condition, x, y]),
    "clip": clip,
    "round": round_,
    "full_like": _full_like,
    "zeros_like": lambda x, dtype=None: _full_like(x, 0, dtype),
    "ones_like": lambda x, dtype=None: _full_like(x, 1, dtype),
    "copy": lambda a: a,
}


def _recorder_of(*values: Any) -> StepRecorder:
    return next(value.recorder for value in values if isinstance(value, Traced))
