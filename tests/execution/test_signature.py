"""What is given to a model, held to what it says of itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import InputError
from brainsmith.execution.signature import ModelSignature, TensorSpec

IMAGE = TensorSpec("image", (2, 3), "float32", "INT4")
SCALE = TensorSpec("scale", ())
BOTH = ModelSignature((IMAGE, SCALE), (TensorSpec("y", (2,)), TensorSpec("s", ())))
ONE = ModelSignature((IMAGE,), (TensorSpec("y", (2,)),))


def test_runs_are_counted_and_types_without_loss_converted():
    arrays, runs = BOTH.checked({"scale": [1, 2], "image": np.ones((4, 3), np.uint8)})
    assert runs == 2
    assert list(arrays) == ["image", "scale"]
    assert {array.dtype.name for array in arrays.values()} == {"float32"}
    assert BOTH.batch == 2
    assert BOTH.stacked(arrays, runs)["image"].shape == (2, 2, 3)
    assert BOTH.stacked(arrays, runs)["scale"].tolist() == [1.0, 2.0]


def test_what_was_checked_is_not_checked_again_unless_it_changed():
    arrays, runs = ONE.checked([[1, 2, 3], [4, 5, 6]])
    assert ONE.checked(arrays)[0] is arrays
    assert ONE.checked(arrays)[1] == runs == 1
    with pytest.raises(InputError, match=r"^input 'scale' is missing"):
        BOTH.checked(arrays)
    arrays["image"] = np.ones((4, 3), np.float32)
    again, runs = ONE.checked(arrays)
    assert (again is arrays, runs) == (False, 2)
    del again["image"]
    with pytest.raises(InputError, match=r"^input 'image' is missing"):
        ONE.checked(again)


def test_outputs_are_joined():
    joined = BOTH.joined({"y": np.zeros((5, 2)), "s": np.zeros(5), "other": np.zeros(5)})
    assert {name: array.shape for name, array in joined.items()} == {"y": (10,), "s": (5,)}


@pytest.mark.parametrize(
    ("signature", "given", "text"),
    [
        (
            BOTH,
            np.zeros((2, 3)),
            "the model has 2 inputs, so they must be given by name: 'image' float32 (2, 3), 'scale' float32 ()",
        ),
        (ONE, {"imge": 1}, "the model has no input 'imge'; it has 'image' float32 (2, 3)"),
        (BOTH, {"image": 1}, "input 'scale' is missing; the model has 'image' float32 (2, 3), 'scale' float32 ()"),
        (ONE, np.zeros((2, 3)), "input 'image' must be of float32, not float64; convert it with .astype('float32')"),
        (ONE, ["a"], "input 'image' must be of float32, not <U1; convert it with .astype('float32')"),
        (ONE, np.zeros((3, 3), np.float32), "input 'image' must have shape (n * 2, 3), not (3, 3)"),
        (ONE, np.zeros((2, 4), np.float32), "input 'image' must have shape (n * 2, 3), not (2, 4)"),
        (ONE, np.zeros((0, 3), np.float32), "input 'image' has no samples: its shape is (0, 3)"),
        (ONE, np.zeros(3, np.float32), "input 'image' must have shape (n * 2, 3), not (3,)"),
        (
            BOTH,
            {"image": np.zeros((2, 3), np.float32), "scale": np.zeros((1, 2), np.float32)},
            "input 'scale' must have shape () or (runs,), not (1, 2)",
        ),
        (
            BOTH,
            {"image": np.zeros((4, 3), np.float32), "scale": 1},
            "all inputs must hold the same number of runs of the model, and 'image' has 2, 'scale' has 1",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_with_what_is_expected(signature, given, text):
    with pytest.raises(InputError) as caught:
        signature.checked(given)
    assert str(caught.value) == text
    assert isinstance(caught.value, ValueError)


SPECS = st.builds(TensorSpec, st.text(max_size=4), st.lists(st.integers(1, 9), max_size=4).map(tuple))


@given(st.lists(SPECS, max_size=3).map(tuple), st.lists(SPECS, max_size=3).map(tuple))
@settings(max_examples=30, deadline=None)
def test_plain_and_back(inputs, outputs):
    signature = ModelSignature(inputs, outputs)
    assert ModelSignature.from_plain(signature.to_plain()) == signature


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_stacked_and_joined_are_inverse(shape, runs):
    signature = ModelSignature((TensorSpec("x", shape),), (TensorSpec("x", shape),))
    given = np.arange(runs * np.prod(shape), dtype=np.float32).reshape(runs * shape[0], *shape[1:])
    arrays, counted = signature.checked(given)
    assert counted == runs
    np.testing.assert_array_equal(signature.joined(signature.stacked(arrays, runs))["x"], given)


WHOLE = ModelSignature((TensorSpec("k", (1, 2), "int64", "INT64"),), ())


def test_plain_numbers_become_integers_only_if_they_are_some():
    assert WHOLE.checked([[1.0, -2]])[0]["k"].tolist() == [[1, -2]]
    for values, told in (([[1.5, 2.7]], "1.5"), ([[1, float("nan")]], "nan")):
        with pytest.raises(InputError) as caught:
            WHOLE.checked(values)
        assert str(caught.value) == f"input 'k' must be of int64, which cannot hold {told}"
    small = ModelSignature((TensorSpec("k", (1, 2), "uint8", "UINT8"),), ())
    with pytest.raises(InputError) as caught:
        small.checked([[1, 300]])
    assert str(caught.value) == "input 'k' must be of uint8, which cannot hold 300"
