"""Outputs that are known beforehand: those expected of the input model, and those of a step that gives others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.build.output_comparison import OutputComparison, compare
from brainsmith.errors import VerificationError
from brainsmith.figures import plural
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from brainsmith.build.baseline import Baseline
    from brainsmith.build.float_tie_check import FloatTieCheck
    from brainsmith.build.golden import NewOutputs
    from brainsmith.web.step_result import FloatTies


def check_expected(
    base: Baseline, expected: Array, tolerance: float | None, ties: FloatTieCheck
) -> FloatTies | None:
    """Compare the input model with the expected outputs.

    Args:
        base: The input model.
        expected: (samples, values), or (samples, 1): class numbers.
        tolerance: The largest absolute error; None as in `compare`.
        ties: Of the input model; the expected outputs may be of another order in which floats are added.

    Returns:
        The float ties that explain what differs; None if nothing does.

    Raises:
        VerificationError: It computes something else.
    """
    found = _against(base, expected, tolerance)
    if not found.mismatches:
        return None
    verdict = ties.of_outputs(base, expected, np.flatnonzero(found.wrong), tolerance)
    if verdict.ties is None:
        more = f". Float ties do not explain it: {verdict.wrong}" if verdict.wrong else ""
        raise VerificationError(
            "the input model does not compute the expected outputs, before any step: "
            f"{found.text(found.worst_sample)}{more}"
        )
    return verdict.ties


def check_new_outputs(base: Baseline, stated: NewOutputs, tolerance: float | None) -> float:
    """Hold a step that gives other outputs to what the blueprint states of them.

    Args:
        base: What the step made.
        stated: Its labels, expected outputs, or both.
        tolerance: The largest absolute error; None as in `compare`.

    Returns:
        The largest error; 0 without expected outputs.

    Raises:
        VerificationError: The step gives something else, or the data are of other outputs.
    """
    step, samples = base.step, base.samples
    name, stack = next(iter(base.outputs.items()))
    values, labels = stack.size // samples, stated.labels
    gives = f"step '{step}' gives {plural(values, 'value')} for each sample"
    key = f"verify.changes_outputs.{step}"
    if labels is not None and values > 1 and not 0 <= labels.min() <= labels.max() < values:
        text = f"{gives}, and {key}.labels holds labels from {labels.min()} to {labels.max()}"
        raise VerificationError(text, step)
    if stated.expected is None:
        return 0.0
    if stated.expected.shape[1] not in (1, values):
        text = f"{gives}, as output '{name}', and {key}.expected has {stated.expected.shape[1]}"
        raise VerificationError(text, step)
    found = _against(base, stated.expected, tolerance)
    if found.mismatches:
        raise VerificationError(
            f"step '{step}' does not give what {key}.expected states: {found.text(found.worst_sample)}", step
        )
    return found.max_error


def _against(base: Baseline, expected: Array, tolerance: float | None) -> OutputComparison:
    """Compare the first output with known values, or with known class numbers."""
    name, stack = next(iter(base.outputs.items()))
    values, known = stack.reshape(base.samples, -1), expected.reshape(base.samples, -1)
    classes = known.shape[1] != values.shape[1]
    return compare({name: values}, {name: known}, tolerance, classes, by_class=False)
