"""MeansToSums and InferGlobalSum: a mean over tokens becomes a sum of integers and a factor behind it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.execution.execute import Executor
from brainsmith.testing.small_models import make_model, op_types
from brainsmith.testing.transform_laws import apply_once, check_same_function
from brainsmith.transforms.infer_global_sum import InferGlobalSum
from brainsmith.transforms.means_to_sums import MeansToSums


def mean(shape, axes, keepdims=1, factor=None, opset=17):
    """Make `ReduceMean(x)`, or `ReduceMean(factor x)`."""
    source = "x" if factor is None else "scaled"
    constants = {} if factor is None else {"c": np.asarray(factor, np.float32)}
    nodes = [] if factor is None else [helper.make_node("Mul", ["x", "c"], ["scaled"], name="scale")]
    if opset < 18:
        nodes.append(
            helper.make_node("ReduceMean", [source], ["y"], name="pool", axes=axes, keepdims=keepdims)
        )
    else:
        constants["axes"] = np.asarray(axes, np.int64)
        nodes.append(helper.make_node("ReduceMean", [source, "axes"], ["y"], name="pool", keepdims=keepdims))
    return make_model(nodes, {"x": shape}, ["y"], constants, opset=opset)


@settings(max_examples=30, deadline=None)
@given(
    shape=st.tuples(st.just(1), st.sampled_from([2, 4, 8]), st.integers(1, 4), st.integers(1, 4)),
    axes=st.sampled_from([[1], [-3], [1, 2], [3]]),
    keepdims=st.integers(0, 1),
    factor=st.sampled_from([None, 0.5, 4.0]),
    opset=st.sampled_from([13, 17, 18]),
)
def test_the_graph_computes_the_same(shape, axes, keepdims, factor, opset):
    model = mean(shape, axes, keepdims, factor, opset)
    feeds = {"x": np.random.default_rng(0).integers(-8, 8, shape).astype(np.float32)}
    after, modified = check_same_function(MeansToSums(), model, feeds, rtol=1e-6)
    assert modified
    assert op_types(after) == ["ReduceSum", *(["Mul"] * (1 if factor is None else 2))]


@pytest.mark.parametrize(
    "model",
    [
        mean((1, 4, 2), [1], opset=12),
        make_model([helper.make_node("ReduceMean", ["x"], ["y"], name="all")], {"x": (1, 4)}, ["y"]),
        make_model(
            [
                helper.make_node("Mul", ["x", "c"], ["s"], name="per_channel"),
                helper.make_node("ReduceSum", ["s", "axes"], ["y"], name="sum"),
            ],
            {"x": (1, 4, 2)},
            ["y"],
            {"c": np.ones(2, np.float32), "axes": np.asarray([1], np.int64)},
        ),
    ],
    ids=["old opset", "all axes", "factor per channel"],
)
def test_what_cannot_be_told_stays(model):
    assert apply_once(MeansToSums(), model)[1] is False


@pytest.mark.parametrize("keepdims", [0, 1])
def test_no_axes_are_all_axes(keepdims):
    feeds = {"x": np.random.default_rng(0).integers(-8, 8, (1, 4, 2)).astype(np.float32)}
    after, modified = check_same_function(
        MeansToSums(), mean((1, 4, 2), [], keepdims, opset=18), feeds, rtol=1e-6
    )
    assert modified
    assert list(after.get_initializer(after.graph.node[0].input[1])) == [0, 1, 2]


def test_no_axes_that_are_none_stay():
    node = helper.make_node("ReduceMean", ["x", "axes"], ["y"], name="same", noop_with_empty_axes=1)
    model = make_model([node], {"x": (1, 4, 2)}, ["y"], {"axes": np.zeros(0, np.int64)}, opset=18)
    assert apply_once(MeansToSums(), model)[1] is False


@pytest.mark.parametrize(("shape", "axes"), [((1, 8, 3), [1]), ((1, 2, 4, 3), [1, 2])])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_a_sum_of_integers_becomes_a_kernel(shape, axes, keepdims):
    model = mean(shape, axes, keepdims)
    model.set_tensor_datatype("x", DataType["INT4"])
    feed = {"x": np.random.default_rng(0).integers(-8, 8, shape).astype(np.float32)}
    expected = execute_onnx(model, feed)["y"]
    summed, _ = MeansToSums().apply(ModelWrapper(model.model, make_deepcopy=True))
    after, modified = InferGlobalSum().apply(summed)
    assert modified
    image = len(shape) == 4  # which the kernel takes as it is, and gives as it is if its axes stay
    reshapes = [["Reshape"] * (not image), ["Reshape"] * (not (image and keepdims))]
    assert op_types(after) == [*reshapes[0], "GlobalAccPool", *reshapes[1], "Mul"]
    assert after.get_tensor_datatype(after.graph.node[-1].input[0]) == DataType["INT7"]
    found = Executor(after).run({"x": feed["x"][np.newaxis]})["y"][0]
    np.testing.assert_array_equal(found, expected)
    assert InferGlobalSum().apply(after)[1] is False


@pytest.mark.parametrize(
    ("shape", "axes", "datatype"),
    [((1, 8, 3), [1], "FLOAT32"), ((1, 8, 3), [2], "INT4"), ((2, 8, 3), [1], "INT4"), ((1, 8), [1], "INT4")],
)
def test_other_sums_stay(shape, axes, datatype):
    model = mean(shape, axes)
    model.set_tensor_datatype("x", DataType[datatype])
    summed, _ = MeansToSums().apply(model)
    assert InferGlobalSum().apply(summed)[1] is False


@pytest.mark.parametrize("datatype", ["BIPOLAR", "TERNARY"])
def test_a_sum_that_the_kernel_cannot_hold_stays(datatype):
    model = mean((1, 4, 3), [1])
    model.set_tensor_datatype("x", DataType[datatype])
    summed, _ = MeansToSums().apply(model)
    after, modified = InferGlobalSum().apply(summed)
    assert (modified, op_types(after)) == (False, ["ReduceSum", "Mul"])


@pytest.mark.parametrize("datatype", ["INT2", "UINT2", "BINARY", "INT8", "TERNARY"])
@pytest.mark.parametrize("tokens", [1, 3, 4, 5])
def test_a_kernel_s_sum_has_a_datatype_that_holds_it(datatype, tokens):
    model = mean((1, tokens, 3), [1])
    model.set_tensor_datatype("x", DataType[datatype])
    summed, _ = MeansToSums().apply(model)
    after, modified = InferGlobalSum().apply(summed)
    if modified:
        found = after.get_tensor_datatype(after.graph.node[2].output[0])
        assert found.min() <= tokens * DataType[datatype].min()
        assert tokens * DataType[datatype].max() <= found.max()
    assert modified or datatype == "TERNARY"
