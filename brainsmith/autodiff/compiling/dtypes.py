"""Which dtypes numpy computes in: asked of numpy itself, so that its rules of promotion are not written twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brainsmith.autodiff.compiling.functions import FUNCTIONS

Dtype = np.dtype[Any]


def result_dtype(function: str, given: Sequence[Any], options: Mapping[str, Any] | None = None) -> Dtype:
    """Return the dtype of what a function gives.

    Args:
        function: Its name.
        given: Dtypes, and numbers for constants.
        options: Its keyword arguments.

    Raises:
        TypeError: numpy does not take such operands.
    """
    known = FUNCTIONS[function]
    samples = [np.ones(1, one) if isinstance(one, np.dtype) else one for one in given]
    with np.errstate(all="ignore"):
        if known.reduces:
            return np.asarray(known.numpy_form(samples[0])).dtype
        return np.asarray(known.numpy_form(*samples, **(options or {}))).dtype


def loop_dtypes(function: str, given: Sequence[Any], result: Dtype) -> tuple[Dtype, ...]:
    """Return the dtype that each operand is converted to before the function is computed."""
    known = FUNCTIONS[function]
    if known.is_ufunc:
        kinds = tuple(one if isinstance(one, np.dtype) else _kind(one) for one in given)
        if not any(isinstance(kind, np.dtype) for kind in kinds):
            kinds = tuple(np.dtype(kind) for kind in kinds)
        resolved: tuple[Dtype, ...] = known.numpy_form.resolve_dtypes((*kinds, None))  # type: ignore[attr-defined]
        return resolved[:-1]
    if function == "where":
        return (np.dtype(bool), result, result)
    if function == "cast" or known.reduces:
        return tuple(np.asarray(one).dtype if not isinstance(one, np.dtype) else one for one in given)
    return (result,) * known.arity


def _kind(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.dtype
    return np.dtype(bool) if isinstance(value, bool) else type(value)
