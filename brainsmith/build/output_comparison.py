"""Compare the outputs of two models, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from brainsmith.comparison.tensors import are_whole, errors_of, is_on_grid, largest_magnitude, tolerance_of
from brainsmith.graph.array_types import Array


@dataclass(frozen=True)
class OutputComparison:
    """What differs.

    Attributes:
        wrong: (samples,), whether each differs.
        max_error: The largest absolute difference; infinite where one side is not a number.
        worst_tensor: The output with that difference.
        worst_sample: Where in the compared stack it is.
        classes: (samples,), the class that the second model gives to each.
        tolerance: The largest absolute difference of that output that counts as equal.
        exact: Samples differ, and that output is exact on both sides: integers, also times a power of two.
        by_class: Samples differ by their class alone, which no tolerance allows.
    """

    wrong: Array
    max_error: float
    worst_tensor: str
    worst_sample: int
    classes: Array
    tolerance: float = 0.0
    exact: bool = False
    by_class: bool = False

    @property
    def mismatches(self) -> int:
        """Count the samples that differ."""
        return int(self.wrong.sum())

    def wrong_runs(self, batch: int) -> Array:
        """Return which runs, of so many samples each, have one that differs."""
        return np.flatnonzero(self.wrong.reshape(-1, batch).any(axis=1))

    def text(self, sample: int) -> str:
        """Return how many samples differ, and which most, by the number of that sample among all."""
        return (
            f"{self.mismatches} of {len(self.wrong)} samples differ; worst at tensor '{self.worst_tensor}', "
            f"sample {sample}: error {self.max_error:g}, tolerance {self.tolerance:g}"
        )


RELATIVE_ERROR = 1e-5
"""Of an output's largest value: the difference that is allowed where nothing else is stated and floats are rounded."""
_ROUNDING = 1e-3
"""Of the largest value: what float32 can lose in a long sum, and no wrong value is likely to be within."""


def advice(step: str, found: OutputComparison, outputs: Iterable[Array]) -> str:
    """Return why a step's result may differ, and what a blueprint can say of it: a tolerance only where that can help."""
    exception = f"`verify: {{approximate: {{{step}: {{error: ERROR, classes: SAMPLES}}}}}}`"
    stated = f"if '{step}' approximates, state it: {exception}"
    if not np.isfinite(found.max_error):
        return "a value is infinite or not a number (NaN) on one side only, which is not a rounding error"
    if found.by_class:
        nearly = "rounding changes it only where the values of two classes are nearly equal"
        return f"no tolerance allows another class; {nearly}; {stated}"
    level = (
        "rounding before a quantiser moved a value to its next level (scales that are powers of two avoid it)"
    )
    if found.exact:
        kind = "the outputs are exact (whole numbers, also times a power of two)"
        return f"{kind}, so this is not a rounding error, unless {level}; {stated}"
    finite = (np.abs(output[np.isfinite(output)]) for output in outputs)
    largest = max((float(values.max(initial=0.0)) for values in finite), default=0.0)
    if found.max_error > _ROUNDING * largest:
        return f"the difference is too large for a rounding error, unless {level}; {stated}"
    allowed = f"`verify: {{tolerance: {{{step}: ERROR}}}}`"
    return f"if the difference is mere rounding, allow it: {allowed}; {stated}"


def compare(
    expected: Mapping[str, Array],
    outputs: Mapping[str, Array],
    tolerance: float | None,
    classes: bool,
    by_class: bool,
) -> OutputComparison:
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
        return replace(_comparison(errors, before != after, after, {}), by_class=True)
    after = predictions(outputs[first])
    errors, allowed = {}, {}
    wrong = before != after if by_class else np.zeros(len(before), bool)
    for name, stack in expected.items():
        errors[name] = _errors(stack, outputs[name])
        allowed[name] = _default_tolerance(stack, outputs[name]) if tolerance is None else tolerance
        wrong = wrong | (errors[name] > allowed[name])
    result = _comparison(errors, wrong, after, allowed)
    if not result.mismatches:
        return result
    one, other = expected[result.worst_tensor], outputs[result.worst_tensor]
    exact = are_whole(one, other) or (is_on_grid(one) and is_on_grid(other))
    return replace(result, exact=exact, by_class=result.max_error <= result.tolerance)


def _default_tolerance(expected: Array, found: Array) -> float:
    exact = is_on_grid(expected) or not tolerance_of(expected, found, RELATIVE_ERROR, integer=False)
    return 0.0 if exact else RELATIVE_ERROR * max(1.0, largest_magnitude(expected))


def _comparison(
    errors: dict[str, Array], wrong: Array, classes: Array, limits: Mapping[str, float]
) -> OutputComparison:
    def beyond(name: str) -> tuple[bool, float]:
        error = float(errors[name].max())
        return error > limits.get(name, 0.0), error

    tensor = max(errors, key=beyond)
    worst = int(errors[tensor].argmax())
    error, allowance = float(errors[tensor][worst]), limits.get(tensor, 0.0)
    return OutputComparison(wrong, error, tensor, worst, classes, allowance)


def _errors(expected: Array, actual: Array) -> Array:
    """Return the largest absolute difference of each sample; equal infinities and NaNs do not differ."""
    one, other = (stack.reshape(len(expected), -1) for stack in (expected, actual))
    return np.asarray(errors_of(one, other).max(axis=1))


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
