"""What a target returned is what it stated, or else that is told: name, shape, dtype, and what was given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.errors import TargetError
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.runtime.target_outputs import wrong_outputs
from brainsmith.targets import Capabilities
from tests.runtime.toys import SIGNATURE, toy

X = np.float32([[1, 2], [3, 4]])
GOOD = np.zeros((2, 2), np.float32)
Y = "'y' float32 (2, 2)"
pytestmark = pytest.mark.usefixtures("only_toys")

WRONG = {
    "nothing": ({}, f"return output {Y}; it returned nothing"),
    "another name": ({"z": GOOD}, f"return output {Y}; it returned 'z'"),
    "no table": (5, f"return its outputs by name, {Y}, not int"),
    "none": (None, f"return its outputs by name, {Y}, not None"),
    "an array alone": (GOOD, f"return its outputs by name, {Y}, not float32 (2, 2)"),
    "a text": ({"y": "no array"}, f"return output {Y}, not str"),
    "a ragged list": ({"y": [[1], [1, 2]]}, f"return output {Y}, not list"),
    "objects": ({"y": np.array([[object()] * 2] * 2)}, f"return output {Y}, not object (2, 2)"),
    "one run of two": ({"y": GOOD[:1]}, f"return output {Y}, not float32 (1, 2)"),
    "no run": ({"y": GOOD[:0]}, f"return output {Y}, not float32 (0, 2)"),
    "an axis less": ({"y": GOOD[0]}, f"return output {Y}, not float32 (2,)"),
    "another dtype": ({"y": GOOD.astype(np.int64)}, f"return output {Y}, not int64 (2, 2)"),
    "one too many": ({"y": GOOD, "h": GOOD}, "return 'y' and nothing else; it returned 'h' too"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_target_that_returns_something_else_than_it_states_is_told_and_failed(manager, case):
    result, message = WRONG[case]
    toy("A", execute=lambda self, prepared, inputs, **kwargs: result)
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    with pytest.raises(TargetError) as error:
        manager.execute(prepared, X)
    assert str(error.value) == f"target 'a' must {message}"
    profile = manager.profiles()["a:0"]
    assert (profile.executes, profile.failures) == (0, 1)


KEPT = {
    "missing": ({"y": GOOD}, ["h"], "return tensor 'h', which keep= names; it returned 'y'"),
    "no array": ({"y": GOOD, "h": 5}, ["h"], "return tensor 'h' as an array, not int"),
    "all, and one is no array": ({"y": GOOD, "h": None}, None, "return tensor 'h' as an array, not None"),
    "another": (
        {"y": GOOD, "h": GOOD, "i": GOOD},
        ["h"],
        "return 'y', 'h' and nothing else; it returned 'i' too",
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_tensors_that_keep_names_are_held_to_it(manager, case):
    result, keep, message = KEPT[case]
    toy(
        "A",
        execute=lambda self, prepared, inputs, **kwargs: result,
        get_capabilities=lambda self: Capabilities(intermediates=True),
    )
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    with pytest.raises(TargetError) as error:
        manager.execute(prepared, X, keep=keep)
    assert str(error.value) == f"target 'a' must {message}"


def test_what_keep_names_may_be_of_any_shape_and_an_input_may_be_left_out(manager):
    named = []

    def execute(self, prepared, inputs, keep):
        named.extend(keep)
        return {"y": GOOD, "h": np.arange(7)}

    toy("A", execute=execute, get_capabilities=lambda self: Capabilities(intermediates=True))
    manager.switch_plugin("a")
    found = manager.execute(manager.prepare_resource("m"), X, keep=(name for name in ("h", "x")))
    assert list(found) == ["y", "h"]
    assert named == ["h", "x"]


def test_without_a_signature_nothing_is_held_to_one(manager):
    toy(
        "A",
        prepare_resource=lambda self, resource, config=None: resource,
        execute=lambda self, prepared, inputs, **kwargs: {"whatever": "no array"},
    )
    manager.switch_plugin("a")
    assert manager.execute(manager.prepare_resource("m"), X) == {"whatever": "no array"}


def test_an_axis_of_which_nothing_is_stated_may_have_any_size():
    signature = ModelSignature(SIGNATURE.inputs, (TensorSpec("y", (0, 3)),))
    assert wrong_outputs(signature, {"y": np.zeros((5, 3), np.float32)}, 2) == ""
    assert wrong_outputs(signature, {"y": np.zeros((5, 4), np.float32)}, 2) == (
        "return output 'y' float32 (0, 3), not float32 (5, 4)"
    )


@given(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=3), st.sampled_from(["float32", "int64"]))
def test_what_a_signature_joins_is_what_it_states(runs, shape, dtype):
    signature = ModelSignature((), (TensorSpec("y", tuple(shape), dtype),))
    joined = signature.joined({"y": np.zeros((runs, *shape), dtype)})
    assert wrong_outputs(signature, joined, runs) == ""
