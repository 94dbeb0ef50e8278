"""Compute an expression with numpy, and how far a compiled one may be from it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.compiling.expression import Constant, Expression, ExpressionStep, Input, Operand
from brainsmith.autodiff.compiling.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array, Arrays

_PAIRWISE = 24
"""Additions in a row that numpy's pairwise sum does at most, besides log2 of the count."""


def compute(expression: Expression, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the outputs of an expression, as numpy computes them."""
    results: list[Any] = []
    for step in expression.steps:
        results.append(_apply(step, [_value(operand, inputs, results) for operand in step.operands]))
    return tuple(_value(operand, inputs, results) for operand in expression.outputs)


def error_bounds(expression: Expression, inputs: Arrays) -> tuple[Array, ...]:
    """Return by how much each element of each output may differ between the compiled form and numpy's.

    Each function of both forms is within `Function.ulps` of the other for the same argument; what that does to later
    steps is found by applying them to both ends of what their arguments can be. It is infinite where a pole, or an
    infinite value, lies between these ends.

    Returns:
        Arrays of float64 of the outputs' shapes.
    """
    results: list[Any] = []
    errors: list[Array] = []
    with np.errstate(all="ignore"):
        for step in expression.steps:
            given = [_value(operand, inputs, results) for operand in step.operands]
            off = [_error(operand, inputs, errors) for operand in step.operands]
            result = _apply(step, given)
            results.append(result)
            errors.append(_step_error(step, given, off, result))
    return tuple(
        np.broadcast_to(_error(operand, inputs, errors), np.shape(_value(operand, inputs, results))).copy()
        for operand in expression.outputs
    )


def _apply(step: ExpressionStep, given: Sequence[Any]) -> Any:
    return FUNCTIONS[step.function].numpy_form(*given, **dict(step.options))


def _value(operand: Operand, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
    if isinstance(operand, Constant):
        return operand.number
    return inputs[operand.index] if isinstance(operand, Input) else results[operand.index]


def _error(operand: Operand, inputs: Arrays, errors: Arrays) -> Array:
    if isinstance(operand, Constant):
        return np.zeros(())
    return np.zeros(np.shape(inputs[operand.index])) if isinstance(operand, Input) else errors[operand.index]


def _step_error(step: ExpressionStep, given: Sequence[Any], off: Arrays, result: Any) -> Array:
    function, array = FUNCTIONS[step.function], np.asarray(result)
    own = np.zeros(array.shape)
    if array.dtype.kind == "f":
        ulps = function.ulps[array.dtype == np.float64]
        own = own + (ulps + any(map(np.any, off))) * np.spacing(np.abs(array)).astype(np.float64)
    if function.reduces:
        own = own + _reduction_error(step, given[0], off[0], array)
    elif any(map(np.any, off)):
        own = own + _spread(step, given, off, array)
    return np.where(np.isnan(own), np.inf, own)


def _spread(step: ExpressionStep, given: Sequence[Any], off: Arrays, result: Array) -> Array:
    """Return how far a function is from its value at the corners of what its arguments can be."""
    if step.function in ("sin", "cos"):
        return off[0]
    centre = result.astype(np.float64)
    ends = [
        [value] if not np.any(error) else [_moved(value, -error), _moved(value, error)]
        for value, error in zip(given, off, strict=True)
    ]
    found = np.zeros(result.shape)
    for corner in product(*ends):
        away = np.abs(np.asarray(_apply(step, corner)).astype(np.float64) - centre)
        same = np.asarray(_apply(step, corner)).astype(np.float64) == centre
        found = np.maximum(found, np.where(same, 0.0, away))
    return np.where(_crosses_pole(step.function, given, off), np.inf, found)


def _moved(value: Any, error: Array) -> Any:
    """Return a value moved by an error, in its own kind: a moved truth value is the other one."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return array.astype(np.float64) + error
    if array.dtype.kind == "b":
        return array ^ ((error != 0) & (error > 0))
    return (array + error).astype(array.dtype)


def _crosses_pole(function: str, given: Sequence[Any], off: Arrays) -> Any:
    if function in ("divide", "remainder", "floor_divide"):
        inside = np.abs(np.asarray(given[1], np.float64)) <= off[1]
        return inside & (off[1] > 0) if function == "divide" else (off[0] > 0) | (off[1] > 0)
    if function == "reciprocal":
        return (np.abs(given[0]) <= off[0]) & (off[0] > 0)
    return False


def _reduction_error(step: ExpressionStep, value: Any, off: Array, result: Array) -> Array:
    options = dict(step.options)
    array, error = np.asarray(value), np.broadcast_to(off, np.shape(value))
    if FUNCTIONS[step.function].reducer in ("Greatest", "Least"):
        return np.asarray(np.max(error, **options), np.float64)
    if array.dtype.kind != "f":
        return np.zeros(result.shape)
    count = array.size // max(result.size, 1)
    pairwise = options.get("axis") in (None, -1, array.ndim - 1)
    steps = min(count, _PAIRWISE + np.log2(max(count, 1))) if pairwise else count
    small = float(np.finfo(result.dtype).eps) * (steps + 2)
    wide = np.abs(array).astype(np.float64)
    if step.function == "prod":
        found = np.prod(wide + error, **options) - np.prod(wide, **options) + small * np.prod(wide, **options)
        return np.asarray(found + np.finfo(result.dtype).tiny)
    total = np.sum(error, **options) + small * np.sum(wide, **options)
    return np.asarray(total / count if step.function == "mean" else total)
