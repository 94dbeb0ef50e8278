"""What keep names: each tensor once, in that order, ends as they are, and unknown ones told."""

import pytest

from brainsmith.errors import InputError
from brainsmith.execution.kept_tensors import chosen_tensors

THERE = ("a", "b", "c")


@pytest.mark.parametrize(
    ("keep", "found"),
    [
        (None, THERE),
        ((), ()),
        (["c", "a", "c"], ("c", "a")),
        ((name for name in ("x", "b", "y")), ("b",)),
        (["x"], ()),
    ],
)
def test_what_is_chosen(keep, found):
    assert chosen_tensors(keep, THERE, ("x", "y")) == found


def test_an_end_that_can_be_kept_is():
    assert chosen_tensors(["x", "a"], ("x", "a"), iter("xy")) == ("x", "a")


def test_a_tensor_that_is_not_there_is_told():
    with pytest.raises(InputError) as error:
        chosen_tensors(["a", "z"], THERE, ("x",))
    assert str(error.value) == "there is no tensor 'z' to keep; the tensors are a, b, c"
