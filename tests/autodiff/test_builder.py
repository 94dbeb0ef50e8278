"""Ops that are built from functions: what their parts may say."""

import numpy as np
import pytest

from brainsmith.autodiff.calls import call_op
from brainsmith.errors import OpError
from brainsmith.ops import CustomOpBuilder


def built(validate):
    """Return an op that takes what a function accepts."""
    return CustomOpBuilder("kept", 1).forward(lambda inputs: inputs[0]).validate(validate).build()


@pytest.mark.parametrize(
    ("verdict", "said"),
    [(False, "False"), (np.False_, "np.False_"), (0, "0"), (np.array(False), "array(False)"), ([], "[]")],
    ids=str,
)
def test_what_is_not_true_refuses(verdict, said):
    with pytest.raises(OpError) as caught:
        call_op(built(lambda inputs: verdict), [[1.0]])
    assert str(caught.value) == f"Operation 'kept' does not take these inputs: its validate returned {said}"


@pytest.mark.parametrize("verdict", [None, True, np.True_, 1, np.array([True])], ids=str)
def test_what_is_true_and_nothing_accept(verdict):
    assert call_op(built(lambda inputs: verdict), [[1.0]]) == [1.0]


def test_a_condition_as_numpy_gives_it():
    positive = built(lambda inputs: (inputs[0] > 0).all())
    assert call_op(positive, [[1.0, 2.0]]).tolist() == [1.0, 2.0]
    with pytest.raises(OpError, match=r"its validate returned np\.False_$"):
        call_op(positive, [[1.0, -2.0]])


@pytest.mark.parametrize("given", [[1.0, 2.0], []])
def test_an_array_is_no_verdict(given):
    with pytest.raises(OpError) as caught:
        call_op(built(lambda inputs: inputs[0] > 0), [given])
    assert str(caught.value) == (
        f"validate of operation 'kept' must return True, False or nothing, not an array of shape ({len(given)},): "
        "return condition.all()"
    )


@pytest.mark.parametrize("at", [1, -1, "x"])
def test_an_input_that_is_not_there_cannot_be_without_a_gradient(at):
    builder = CustomOpBuilder("kept", 1).forward(lambda inputs: inputs[0]).not_differentiable(at)
    with pytest.raises(OpError) as caught:
        builder.build()
    assert str(caught.value) == (
        f"not_differentiable of operation 'kept' must name inputs by index, 0 to 0, not {at!r}"
    )
