"""Inputs outside of their datatype are the caller's error, alike for all targets that ship, and not counted as theirs."""

from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import InputError, TargetError
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.runtime.annotated_inputs import refuse_outside
from brainsmith.targets import ResourceManager
from tests.runtime.toys import toy

MLP = Path(__file__).parents[2] / "examples/digits/mlp.onnx"
UINT5 = "input 'image' must hold values of its datatype UINT5, whole numbers from 0 to 31, not"


def images(value, runs=3):
    found = np.zeros((runs, 64), np.float32)
    found[1, 7] = value
    return found


@pytest.mark.parametrize("target", ["reference", "numpy", "onnxruntime"])
@pytest.mark.parametrize(
    ("value", "told"), [(99, "99"), (-1, "-1"), (2.5, "2.5"), (np.nan, "nan"), (np.inf, "inf")]
)
def test_a_value_that_the_datatype_does_not_hold_is_told_with_its_place(target, value, told):
    with ResourceManager({"device": target}) as manager:
        prepared = manager.prepare_resource(MLP)
        with pytest.raises(InputError) as error:
            manager.execute(prepared, images(value))
        assert str(error.value) == f"{UINT5} {told} at [1, 7]"
        assert manager.profiles()[f"{target}:0"].failures == 0
        found = manager.execute(prepared, images(31 + 1e-6))  # a float error, which QONNX removes too
        assert np.array_equal(found["logits"], manager.execute(prepared, images(31))["logits"])


@pytest.mark.parametrize(
    ("datatype", "value", "message"),
    [
        ("BIPOLAR", 0, "BIPOLAR, -1 or 1, not 0 at [0, 1]"),
        ("INT2", 2, "INT2, whole numbers from -2 to 1, not 2 at [0, 1]"),
        ("TERNARY", -2, "TERNARY, whole numbers from -1 to 1, not -2 at [0, 1]"),
    ],
)
def test_every_datatype_of_whole_numbers_is_held_to_its_values(datatype, value, message):
    signature = ModelSignature((TensorSpec("x", (1, 2), "float32", datatype),), ())
    with pytest.raises(InputError) as error:
        refuse_outside(signature, {"x": np.float32([[1, value]])})
    assert str(error.value) == f"input 'x' must hold values of its datatype {message}"
    refuse_outside(signature, {"x": np.float32([[1, -1]])})


@pytest.mark.parametrize("datatype", ["FLOAT32", "FIXED<8,4>", "a target's own word"])
def test_what_is_no_datatype_of_whole_numbers_may_hold_anything(datatype):
    signature = ModelSignature((TensorSpec("x", (), "float32", datatype),), ())
    refuse_outside(signature, {"x": np.float32([0.3, 1e9, np.nan])})


def test_a_scalar_has_no_place():
    signature = ModelSignature((TensorSpec("x", (), "float32", "UINT2"),), ())
    with pytest.raises(InputError) as error:
        refuse_outside(signature, {"x": np.asarray(np.float32(4))})
    assert str(error.value) == (
        "input 'x' must hold values of its datatype UINT2, whole numbers from 0 to 3, not 4"
    )


def test_another_failure_with_inputs_outside_is_still_the_targets(manager):
    toy("A", fails_in=("execute",))
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    with pytest.raises(TargetError, match=r"^target 'a' failed in execute: RuntimeError: execute broke \("):
        manager.execute(prepared, np.float32([[1, 2]]))
    assert manager.profiles()["a:0"].failures == 1
