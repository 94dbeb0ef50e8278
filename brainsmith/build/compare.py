"""Compare the outputs of two models, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.comparison.tensors import is_on_grid, largest_magnitude, tolerance_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Comparison:
    """What differs.

    Attributes:
        wrong: (samples,), whether each differs.
        max_error: The largest absolute difference; infinite where one side is not a number.
        worst_tensor: The output with that difference.
        worst_sample: Where in the compared stack it is.
        classes: (samples,), the class that the second model gives to each.
        tolerance: The largest absolute difference of that output that counts as equal.
    """

    wrong: Array
    max_error: float
    worst_tensor: str
    worst_sample: int
    classes: Array
    tolerance: float = 0.0

    @property
    def mismatches(self) -> int:
        """Count the samples that differ."""
        return int(self.wrong.sum())


RELATIVE_ERROR = 1e-5
"""Of an output's largest value: the difference that is allowed where nothing else is stated and floats are rounded."""
_ROUNDING = 1e-3
"""Of the largest value: what float32 can lose in a long sum, and no wrong value is likely to be within."""


def advice(step: str, found: Comparison, outputs: Iterable[Array]) -> str:
    """Return what a blueprint can say of a step's difference: that it is rounding if it may be, else an approximation."""
    finite = (np.abs(output[np.isfinite(output)]) for output in outputs)
    largest = max((float(values.max(initial=0.0)) for values in finite), default=0.0)
    stated = f"`verify: {{approximate: {{{step}: {{error: ERROR, classes: SAMPLES}}}}}}`"
    if found.max_error <= _ROUNDING * largest:
        allowed = f"`verify: {{tolerance: {{{step}: ERROR}}}}`"
        return f"if the difference is mere rounding, allow it: {allowed}; if '{step}' approximates, state it: {stated}"
    return (
        "the difference is too large for rounding, unless that moved a value from one level of a quantiser to the next "
        f"(scales that are powers of two avoid it); if '{step}' approximates, state it: {stated}"
    )


def compare(
    expected: Mapping[str, Array],
    outputs: Mapping[str, Array],
    tolerance: float | None,
    classes: bool,
    by_class: bool,
) -> Comparison:
    """Compare stacks of outputs.

    Args:
        expected: The original's outputs: (samples, ...) each.
        outputs: The other model's, with the same names.
        tolerance: The largest absolute difference that counts as equal. Without it, each output has its own: 0 where its
            values are exact (integers, also times a power of two), else a hundred thousandth of its largest value, or of 1.
        classes: `outputs` holds class numbers; they are compared with those of `expected`.
        by_class: A sample that changes its class differs, whatever the tolerance.
    """
    first = next(iter(expected))
    before = predictions(expected[first])
    if classes:
        after = np.round(outputs[first].reshape(len(before), -1)[:, 0]).astype(int)
        errors = {first: np.abs(before - after).astype(float)}
        return _comparison(errors, before != after, after)
    after = predictions(outputs[first])
    errors = {name: _errors(stack, outputs[name]) for name, stack in expected.items()}
    allowed = {
        name: _default_tolerance(stack, outputs[name]) if tolerance is None else tolerance
        for name, stack in expected.items()
    }
    wrong = before != after if by_class else np.zeros(len(before), bool)
    for name, worst in errors.items():
        wrong = wrong | (worst > allowed[name])
    return _comparison(errors, wrong, after, allowed)


def _default_tolerance(expected: Array, found: Array) -> float:
    exact = is_on_grid(expected) or not tolerance_of(expected, found, RELATIVE_ERROR, integer=False)
    return 0.0 if exact else RELATIVE_ERROR * max(1.0, largest_magnitude(expected))


def _comparison(
    errors: dict[str, Array], wrong: Array, classes: Array, allowed: Mapping[str, float] | None = None
) -> Comparison:
    limits = allowed or {}

    def beyond(name: str) -> tuple[bool, float]:
        error = float(errors[name].max())
        return error > limits.get(name, 0.0), error

    tensor = max(errors, key=beyond)
    worst = int(errors[tensor].argmax())
    return Comparison(wrong, float(errors[tensor][worst]), tensor, worst, classes, limits.get(tensor, 0.0))


def _errors(expected: Array, actual: Array) -> Array:
    """Return the largest absolute difference of each sample; equal infinities and NaNs do not differ."""
    one = expected.reshape(len(expected), -1).astype(np.float64)
    other = actual.reshape(len(actual), -1).astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(one - other))
    return np.asarray(np.nan_to_num(difference, nan=np.inf, posinf=np.inf).max(axis=1))


def predictions(stack: Array) -> Array:
    """Return each sample's class: the largest of several outputs, or a single output as a class number."""
    flat = stack.reshape(len(stack), -1)
    if flat.shape[1] > 1:
        return np.asarray(flat.argmax(axis=1))
    return np.asarray(np.round(np.nan_to_num(flat[:, 0])).astype(int))


def first_changed_tensor(
    order: Iterable[str], before: Mapping[str, Array], after: Mapping[str, Array], tolerance: float
) -> str:
    """Return the first tensor that both models name alike and compute differently.

    A hint only: a step may rightly move a factor from one side of a tensor to the other.
    """
    for name in order:
        comparable = name in before and name in after and before[name].shape == after[name].shape
        if comparable and float(_errors(before[name], after[name]).max(initial=0.0)) > tolerance:
            return name
    return ""
