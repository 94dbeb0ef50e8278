import numpy as np
import pytest

from brainsmith.build.output_comparison import (
    OutputComparison,
    advice,
    compare,
    first_changed_tensor,
    predictions,
)

ONES = np.asarray([[[1.0, 2.0]], [[4.0, 3.0]]])


def run(actual, tolerance=1e-6, classes=False, by_class=False):
    return compare({"y": ONES}, {"y": np.asarray(actual, float)}, tolerance, classes, by_class)


def test_equal():
    found = run(ONES)
    assert (found.mismatches, found.max_error, found.classes.tolist()) == (0, 0.0, [1, 0])


def test_the_worst_sample_and_error():
    found = run([[[1.0, 2.5]], [[4.0, 5.0]]])
    assert (found.mismatches, found.max_error, found.worst_tensor, found.worst_sample) == (2, 2.0, "y", 1)
    assert run([[[1.0, 2.5]], [[4.0, 5.0]]], tolerance=1.0).mismatches == 1


def test_another_class_differs_whatever_the_tolerance():
    assert run([[[2.0, 1.9]], [[4.0, 3.0]]], tolerance=10, by_class=True).mismatches == 1
    assert run([[[2.0, 1.9]], [[4.0, 3.0]]], tolerance=10).mismatches == 0


def test_each_output_has_a_tolerance_of_its_own():
    large = np.asarray([[1e7 / 3, 0.1]], np.float32)
    small = np.asarray([[0.3, 0.1]], np.float32)
    found = compare({"a": large, "b": small}, {"a": large + 10, "b": small + 1}, None, False, False)
    assert (found.mismatches, found.worst_tensor, found.tolerance) == (1, "b", 1e-5)
    assert found.max_error == pytest.approx(1.0)
    found = compare({"a": large, "b": small}, {"a": large + 10, "b": small + 1e-6}, None, False, False)
    assert (found.mismatches, found.worst_tensor) == (0, "a")
    assert found.tolerance == pytest.approx(1e7 / 3 * 1e-5)


def test_nan_and_infinity():
    odd = np.asarray([[[np.nan, np.inf]]])
    assert compare({"y": odd}, {"y": odd.copy()}, 0.0, False, False).mismatches == 0
    found = compare({"y": odd}, {"y": np.asarray([[[0.0, np.inf]]])}, 1e9, False, False)
    assert (found.mismatches, found.max_error) == (1, np.inf)


def test_class_numbers():
    assert run([[1.0], [0.0]], classes=True).mismatches == 0
    assert run([[1.0], [1.0]], classes=True).mismatches == 1


def test_predictions_of_one_output_are_its_value():
    assert predictions(np.asarray([[[3.0]], [[7.0]]])).tolist() == [3, 7]


def test_first_changed_tensor_follows_the_order():
    before = {"a": np.zeros(3), "b": np.zeros(3), "c": np.zeros(3)}
    after = {"a": np.zeros(3), "b": np.ones(3), "c": np.ones(3)}
    assert first_changed_tensor(["a", "c", "b"], before, after, 0.1) == "c"
    assert first_changed_tensor(["a"], before, after, 0.1) == ""


STATED = "if 'fold' approximates, state it: `verify: {approximate: {fold: {error: ERROR, classes: SAMPLES}}}`"
LEVEL = "rounding before a quantiser moved a value to its next level (scales that are powers of two avoid it)"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            0.002,
            f"if the difference is mere rounding, allow it: `verify: {{tolerance: {{fold: ERROR}}}}`; {STATED}",
        ),
        (0.0021, f"the difference is too large for a rounding error, unless {LEVEL}; {STATED}"),
        (np.inf, "a value is infinite or not a number (NaN) on one side only, which is not a rounding error"),
    ],
)
def test_a_tolerance_is_advised_where_the_difference_may_be_rounding(error, text):
    outputs = [np.array([[1.0, -2.0, np.inf]]), np.zeros((0, 3))]
    found = OutputComparison(np.array([True]), error, "y", 0, np.array([0]))
    assert advice("fold", found, outputs) == text


def advised(expected, found, **words):
    stacks = {"y": np.asarray([expected], np.float32)}, {"y": np.asarray([found], np.float32)}
    options = {"tolerance": None, "classes": False, "by_class": False} | words
    return advice("fold", compare(*stacks, **options), stacks[0].values())


EXACT = (
    "the outputs are exact (whole numbers, also times a power of two), so this is not a rounding error, "
    f"unless {LEVEL}; {STATED}"
)
MERE = f"if the difference is mere rounding, allow it: `verify: {{tolerance: {{fold: ERROR}}}}`; {STATED}"
CLASS = (
    "no tolerance allows another class; rounding changes it only where the values of two classes are nearly equal; "
    + STATED
)


@pytest.mark.parametrize(
    ("expected", "found", "text"),
    [
        ([5000, 7], [5001, 7], EXACT),  # one in 5,000 is no rounding of an integer
        ([0.125, 7.5], [0.25, 7.5], EXACT),
        ([5000, 7], [5000.0005, 7], MERE),  # the step computes in floats what was exact
        ([0.1, 7.3], [0.1, 7.30008], MERE),
        (
            [0.1, 7.3],
            [0.1, 8.3],
            f"the difference is too large for a rounding error, unless {LEVEL}; {STATED}",
        ),
    ],
)
def test_no_tolerance_is_advised_where_outputs_are_exact(expected, found, text):
    assert advised(expected, found) == text


def test_no_tolerance_is_advised_for_another_class():
    assert advised([0.1, 0.1000001], [0.1000001, 0.1], by_class=True) == CLASS
    assert advised([0.1, 7.3], [0], classes=True) == CLASS
    assert advised([0.1, 7.3], [0.1, 7.302], by_class=True) == MERE
