import numpy as np
import pytest

from brainsmith.build.compare import Comparison, advice, compare, first_changed_tensor, predictions

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


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            0.002,
            "if the difference is mere rounding, allow it: `verify: {tolerance: {fold: ERROR}}`; if 'fold' approximates, "
            "state it: `verify: {approximate: {fold: {error: ERROR, classes: SAMPLES}}}`",
        ),
        (
            0.0021,
            "the difference is too large for rounding, unless that moved a value from one level of a quantiser to the next "
            "(scales that are powers of two avoid it); if 'fold' approximates, state it: "
            "`verify: {approximate: {fold: {error: ERROR, classes: SAMPLES}}}`",
        ),
    ],
)
def test_a_tolerance_is_advised_where_the_difference_may_be_rounding(error, text):
    outputs = [np.array([[1.0, -2.0, np.inf]]), np.zeros((0, 3))]
    found = Comparison(np.array([True]), error, "y", 0, np.array([0]))
    assert advice("fold", found, outputs) == text
    assert "too large" in advice("fold", Comparison(np.array([True]), np.inf, "y", 0, np.array([0])), outputs)
