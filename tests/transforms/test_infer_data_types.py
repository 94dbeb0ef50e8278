"""InferDataTypes: what is annotated holds what the tensor holds."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.plugins import transforms as tfm
from brainsmith.testing.small_models import make_model, run

NAMES = ("BIPOLAR", "BINARY", "TERNARY", "INT2", "UINT2", "INT5", "UINT3")


def values(name, size=4, seed=0):
    """Values of a datatype, its least and greatest among them."""
    datatype = DataType[name]
    ends = [datatype.min(), datatype.max()]
    drawn = np.random.default_rng(seed).integers(datatype.min(), datatype.max() + 1, size - 2)
    drawn = [number if datatype.allowed(number) else ends[0] for number in drawn]
    return np.asarray([[*ends, *drawn]], np.float32)


def inferred(nodes, annotated, constants=None, opset=17):
    model = make_model(nodes, dict.fromkeys(annotated, (1, 4)), ["y"], constants, opset=opset)
    for name, datatype in annotated.items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model.transform(tfm.InferDataTypes())


def holds(model, annotated):
    found = run(model, {name: values(datatype) for name, datatype in annotated.items()})["y"]
    datatype = model.get_tensor_datatype("y")
    return all(datatype.allowed(number) for number in found.reshape(-1))


@settings(max_examples=40, deadline=None)
@given(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3), constant=st.booleans())
def test_a_concat_holds_the_values_of_all(names, constant):
    annotated = {f"x{at}": name for at, name in enumerate(names)}
    constants = {"c": np.full((1, 2), 9, np.float32)} if constant else {}
    node = helper.make_node("Concat", [*annotated, *constants], ["y"], axis=1)
    model = inferred([node], annotated, constants)
    assert holds(model, annotated)
    if len(set(names)) == 1 and not constant:
        assert model.get_tensor_datatype("y").name == names[0]


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    low=st.sampled_from([None, -20, -1, 0, 3, 0.5]),
    high=st.sampled_from([None, 1, 0, 5, 40]),
    opset=st.sampled_from([6, 17]),
)
def test_a_clip_holds_its_bounds_too(name, low, high, opset):
    assume(low is None or high is None or low <= high)  # ONNX Runtime refuses others
    bounds = {end: value for end, value in (("min", low), ("max", high)) if value is not None}
    if opset == 6:
        node, constants = (
            helper.make_node("Clip", ["x"], ["y"], **{k: float(v) for k, v in bounds.items()}),
            {},
        )
    else:
        constants = {end: np.asarray(value, np.float32) for end, value in bounds.items()}
        node = helper.make_node(
            "Clip", ["x", *(end if end in bounds else "" for end in ("min", "max"))], ["y"]
        )
    assert holds(inferred([node], {"x": name}, constants, opset), {"x": name})


@pytest.mark.parametrize(("name", "value", "then"), [
    ("BIPOLAR", None, "INT2"), ("INT4", None, "INT4"), ("UINT2", -1.0, "INT3"), ("UINT2", 0.5, "FLOAT32"),
])  # fmt: skip
def test_what_is_padded_holds_what_it_is_padded_by(name, value, then):
    constants = {"pads": np.int64([0, 1, 0, 1])} | ({} if value is None else {"value": np.float32(value)})
    model = inferred([helper.make_node("Pad", ["x", *constants], ["y"])], {"x": name}, constants)
    assert model.get_tensor_datatype("y").name == then
    assert holds(model, {"x": name})


@pytest.mark.parametrize(
    ("op_type", "left", "right", "found"),
    [
        ("MatMul", "INT16", "INT16", "INT41"),
        ("MatMul", "UINT16", "UINT16", "UINT41"),
        ("MatMul", "INT8", "INT8", "INT32"),
        ("MatMul", "INT32", "INT8", "INT32"),  # QONNX's type of any sum
        ("Gemm", "INT12", "BIPOLAR", "INT32"),
        ("Gemm", "INT24", "BIPOLAR", "INT34"),
    ],
)
def test_sums_beyond_32_bits_are_annotated_so(op_type, left, right, found):
    node = helper.make_node(op_type, ["x", "w"], ["y"])
    shape = (1, 512)
    model = make_model([node], {"x": shape, "w": (512, 4)}, ["y"])
    for name, datatype in (("x", left), ("w", right)):
        model.set_tensor_datatype(name, DataType[datatype])
    model = model.transform(tfm.InferDataTypes())
    assert model.get_tensor_datatype("y").name == found
    assert model.transform(tfm.InferDataTypes()).get_tensor_datatype("y").name == found


@pytest.mark.parametrize(
    ("name", "wanted"), [("INT4", "TERNARY"), ("BIPOLAR", "BIPOLAR"), ("UINT2", "TERNARY")]
)
def test_a_sign_holds_zero_where_its_input_does(name, wanted):
    """QONNX says BIPOLAR of all, and a build stopped at the first 0."""
    model = inferred([helper.make_node("Sign", ["x"], ["y"])], {"x": name})
    assert model.get_tensor_datatype("y").name == wanted
    assert holds(model, {"x": name})


def test_a_sign_that_the_model_states_as_bipolar_stays():
    model = make_model([helper.make_node("Sign", ["x"], ["y"])], {"x": (1, 4)}, ["y"])
    model.set_tensor_datatype("y", DataType["BIPOLAR"])
    assert model.transform(tfm.InferDataTypes()).get_tensor_datatype("y").name == "BIPOLAR"
