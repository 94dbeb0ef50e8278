"""ConvertDivToMul: the quotient stays the quotient, and what is no division by a number stays a division."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.testing.small_models import make_model, op_types
from brainsmith.testing.transform_laws import apply_once, check_same_function
from brainsmith.transforms.convert_div_to_mul import ConvertDivToMul

FINITE = st.floats(2**-7, 128, width=32) | st.floats(-128, -(2**-7), width=32)
TOLERANCE = 1.5 * np.finfo(np.float32).eps


def div(constant, shape=(2, 3), **options):
    nodes = [helper.make_node("Div", ["x", "c"], ["y"], name="d")]
    return make_model(nodes, {"x": shape}, ["y"], {"c": constant}, **options)


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_side=4))
def test_any_shapes_and_values(data, shapes):
    x_shape, c_shape = shapes.input_shapes
    constant = data.draw(hnp.arrays(np.float32, c_shape, elements=FINITE | st.just(0.0)))
    model = div(constant, x_shape)
    feeds = {"x": numbers(x_shape)}
    if (constant == 0).any():
        assert apply_once(ConvertDivToMul(), model)[1] is False
        return
    after, modified = check_same_function(ConvertDivToMul(), model, feeds, rtol=TOLERANCE)
    assert (modified, op_types(after)) == (True, ["Mul"])
    by_qonnx = execute_onnx(after, feeds)["y"]
    np.testing.assert_allclose(by_qonnx, feeds["x"] / constant, rtol=TOLERANCE)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_keep_their_type(dtype):
    elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = div(np.asarray([3.0], dtype), elem_type=elem_type)
    feeds = {"x": numbers((2, 3)).astype(dtype)}
    after, modified = check_same_function(ConvertDivToMul(), model, feeds, rtol=1.5 * np.finfo(dtype).eps)
    assert modified
    assert after.get_initializer("c_reciprocal").dtype == dtype


def test_powers_of_two_are_exact():
    constant = np.asarray([0.25, -8, 2], np.float32)
    check_same_function(ConvertDivToMul(), div(constant), {"x": numbers((2, 3))})


@pytest.mark.parametrize("value", [0.0, -0.0, np.inf, np.nan, 1e-39, 3e38])
def test_divisors_without_a_usable_reciprocal_stay(value):
    after, modified = apply_once(ConvertDivToMul(), div(np.asarray([1.0, value, 2.0], np.float32)))
    assert (modified, op_types(after)) == (False, ["Div"])


def test_integers_stay():
    model = div(np.asarray([3], np.int32), elem_type=TensorProto.INT32)
    after, modified = check_same_function(
        ConvertDivToMul(), model, {"x": np.arange(6, dtype=np.int32).reshape(2, 3)}
    )
    assert (modified, op_types(after)) == (False, ["Div"])


def test_a_constant_numerator_stays():
    model = make_model(
        [helper.make_node("Div", ["c", "x"], ["y"])], {"x": (2,)}, ["y"], {"c": np.float32([3])}
    )
    assert apply_once(ConvertDivToMul(), model)[1] is False


def test_a_divisor_that_is_a_graph_input_too_is_a_constant():
    model = make_model(
        [helper.make_node("Div", ["x", "c"], ["y"])], {"x": (2,), "c": (1,)}, ["y"], {"c": np.float32([4])}
    )
    after, modified = ConvertDivToMul().apply(model)
    assert (modified, op_types(after)) == (True, ["Mul"])


def test_an_integer_annotation_stays_true():
    model = div(np.asarray([49.0], np.float32))
    model.set_tensor_datatype("y", DataType["INT8"])
    assert apply_once(ConvertDivToMul(), model)[1] is False
    model = div(np.asarray([4.0], np.float32))
    model.set_tensor_datatype("y", DataType["INT8"])
    after, modified = apply_once(ConvertDivToMul(), model)
    assert modified
    assert after.get_tensor_datatype("y") == DataType["INT8"]


def test_a_shared_divisor_gets_one_reciprocal():
    nodes = [
        helper.make_node("Div", ["x", "c"], ["a"]),
        helper.make_node("Div", ["a", "c"], ["b"]),
        helper.make_node("Add", ["b", "c"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 3)}, ["y", "a"], {"c": np.float32([3])})
    after, _ = check_same_function(ConvertDivToMul(), model, {"x": numbers((2, 3))}, rtol=1e-6)
    assert op_types(after) == ["Mul", "Mul", "Add"]
    assert sorted(tensor.name for tensor in after.graph.initializer) == ["c", "c_reciprocal"]


def test_the_annotation_of_the_divisor_is_not_inherited():
    model = div(np.asarray([4.0], np.float32))
    model.set_tensor_datatype("c", DataType["UINT4"])
    after, _ = apply_once(ConvertDivToMul(), model)
    assert [tensor.name for tensor in after.graph.initializer] == ["c_reciprocal"]
    assert after.get_tensor_datatype("c_reciprocal") == DataType["FLOAT32"]


@pytest.mark.parametrize(
    "attrs",
    [
        {"value": helper.make_tensor("v", TensorProto.FLOAT, [1], [5.0])},
        {"value_float": 5.0},
        {"value_floats": [5.0, 0.5, -3.0]},
    ],
    ids=lambda attrs: next(iter(attrs)),
)
def test_a_constant_node_is_a_constant(attrs):
    nodes = [
        helper.make_node("Constant", [], ["c"], **attrs),
        helper.make_node("Div", ["x", "c"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 3)}, ["y"])
    after, _ = check_same_function(ConvertDivToMul(), model, {"x": numbers((2, 3))}, rtol=TOLERANCE)
    assert op_types(after) == ["Mul"]


def test_a_divisor_that_is_a_graph_output_or_read_in_a_branch_stays_there():
    branch = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["inner"])],
        "branch",
        [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, [1])],
    )
    nodes = [
        helper.make_node("Div", ["x", "c"], ["y"]),
        helper.make_node("If", ["choice"], ["z"], then_branch=branch, else_branch=branch),
    ]
    constants = {"c": np.float32([3]), "choice": np.asarray(True)}
    model = make_model(nodes, {"x": (2, 3)}, ["y", "z"], constants)
    after, modified = check_same_function(ConvertDivToMul(), model, {"x": numbers((2, 3))}, rtol=TOLERANCE)
    assert modified
    assert "c" in [tensor.name for tensor in after.graph.initializer]
