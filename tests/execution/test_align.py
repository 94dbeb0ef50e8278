import numpy as np
import pytest

from brainsmith.execution.align import align
from brainsmith.execution.signature import ModelSignature, TensorSpec


def ends(inputs, outputs):
    return ModelSignature(*(tuple(TensorSpec(*one) for one in each.items()) for each in (inputs, outputs)))


def one(inputs, outputs):
    return ends({"x": inputs}, {"y": outputs})


def test_equal_models():
    found = align(one((1, 4), (1, 3)), ends({"in": (1, 4)}, {"out": (1, 3)}))
    assert (found.reason, found.notes, found.classes) == ("", (), False)
    assert {new: old for new, (old, _) in found.feed.items()} == {"in": "x"}
    assert {old: new for old, (new, _) in found.read.items()} == {"y": "out"}


def test_a_layout_that_was_absorbed():
    found = align(one((1, 3, 8, 8), (1, 2, 4, 4)), ends({"x": (1, 8, 8, 3)}, {"y": (1, 4, 4, 2)}))
    assert found.notes == (
        "input 'x' transposed from (1, 3, 8, 8) to (1, 8, 8, 3)",
        "output 'y' transposed from (1, 4, 4, 2) to (1, 2, 4, 4)",
    )
    stack = np.random.default_rng(0).random((5, 1, 3, 8, 8))
    np.testing.assert_array_equal(found.feed["x"][1](stack), stack.transpose(0, 1, 3, 4, 2))
    result = np.random.default_rng(0).random((5, 1, 4, 4, 2))
    np.testing.assert_array_equal(found.read["y"][1](result), result.transpose(0, 1, 4, 2, 3))


def test_dimensions_of_one_and_flattening():
    found = align(one((1, 8), (1, 10)), ends({"x": (1, 1, 1, 8)}, {"y": (10,)}))
    assert found.notes == (
        "input 'x' reshaped from (1, 8) to (1, 1, 1, 8)",
        "output 'y' reshaped from (10,) to (1, 10)",
    )
    assert found.read["y"][1](np.zeros((5, 10))).shape == (5, 1, 10)


def test_an_argmax_that_was_added():
    found = align(one((1, 8), (1, 10)), one((1, 8), (1, 1, 1, 1)))
    assert found.classes
    assert found.notes == ("output 'y' is a class number, compared with the largest of 'y'",)


@pytest.mark.parametrize("numbers", [(4,), (4, 1), (1, 4)])
def test_an_argmax_over_a_batch(numbers):
    assert align(one((4, 8), (4, 10)), one((4, 8), numbers)).classes
    assert not align(one((4, 8), (4, 10)), one((4, 8), (4, 7))).classes


def test_a_batch_that_was_made_one():
    found = align(one((4, 3, 8, 8), (4, 2)), one((1, 8, 8, 3), (1, 1, 1, 2)))
    assert found.notes == (
        "a batch of 4 is fed as 4 samples, one after the other",
        "input 'x' transposed from (1, 3, 8, 8) to (1, 8, 8, 3)",
        "output 'y' reshaped from (1, 1, 1, 2) to (1, 2)",
    )
    stack = np.random.default_rng(0).random((5, 4, 3, 8, 8))
    fed = found.feed["x"][1](stack)
    np.testing.assert_array_equal(fed, stack.reshape(20, 1, 3, 8, 8).transpose(0, 1, 3, 4, 2))
    results = np.random.default_rng(0).random((20, 1, 1, 1, 2))
    np.testing.assert_array_equal(found.read["y"][1](results), results.reshape(5, 4, 2))
    classes = align(one((4, 8), (4, 10)), one((1, 8), (1, 1)))
    assert classes.classes
    assert classes.read["y"][1](np.zeros((20, 1, 1))).shape == (5, 4, 1, 1)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (one((1, 9), (1, 3)), "its input 'x' has shape (1, 9), and 'x' of the original (1, 4)"),
        (one((1, 4), (1, 2)), "its output 'y' has shape (1, 2), and 'y' of the original (1, 3)"),
        (
            ends({"x": (1, 4)}, {"y": (1, 3), "z": (1,)}),
            "it has 2 outputs, and the original 1",
        ),
        (ends({"x": (1, 4)}, {}), "it has 0 outputs, and the original 1"),
    ],
)
def test_what_cannot_be_compared_says_why(after, reason):
    assert align(one((1, 4), (1, 3)), after).reason == reason


def test_one_output_is_no_plural():
    before = ends({"x": (1, 4)}, {"y": (1, 3), "z": (1,)})
    assert align(before, one((1, 4), (1, 3))).reason == "it has 1 output, and the original 2"
