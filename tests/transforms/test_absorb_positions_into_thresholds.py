"""AbsorbPositionsIntoThresholds: thresholds of their own for each element compute what Add and thresholds did."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.execution.execute import Executor
from brainsmith.testing.small_models import dangling, op_types
from brainsmith.transforms.absorb_positions_into_thresholds import AbsorbPositionsIntoThresholds

CUSTOM = "qonnx.custom_op.general"


def embedding(shape, added, levels, layout="NWC"):
    """Make `MultiThreshold(x + added)` with a signed output."""
    nodes = [
        helper.make_node("Add", ["x", "added"], ["sum"], name="positions"),
        helper.make_node(
            "MultiThreshold", ["sum", "levels"], ["y"], name="quantise", domain=CUSTOM, out_dtype="INT4",
            out_bias=-4.0, data_layout=layout,
        ),
    ]  # fmt: skip
    values = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))
        for name in ("x", "sum", "y")
    }
    graph = helper.make_graph(nodes, "test", [values["x"]], [values["y"]], value_info=[values["sum"]])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    model.set_initializer("added", np.asarray(added, np.float32))
    model.set_initializer("levels", np.asarray(levels, np.float32))
    model.set_tensor_datatype("y", DataType["INT4"])
    return model


def absorbed(model):
    copy = ModelWrapper(model.model, make_deepcopy=True)
    return AbsorbPositionsIntoThresholds().apply(copy)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), tokens=st.integers(2, 5), channels=st.integers(2, 4), whole=st.booleans())
def test_the_graph_computes_the_same(data, tokens, channels, whole):
    seed = data.draw(st.integers(0, 99))
    random = np.random.default_rng(seed)
    shape = (1, tokens, channels)
    added = random.integers(-9, 10, shape if data.draw(st.booleans()) else shape[1:]) + 0.5
    rows = 1 if whole else channels
    levels = np.sort(random.integers(-20, 21, (rows, 7)), axis=1)
    model = embedding(shape, added, levels)
    after, modified = absorbed(model)
    assert modified
    assert op_types(after) == ["Reshape", "MultiThreshold", "Reshape"]
    assert not dangling(after)
    assert after.get_initializer(after.graph.node[1].input[1]).shape == (tokens * channels, 7)
    assert after.get_tensor_datatype(after.graph.node[1].output[0]) == DataType["INT4"]
    for _ in range(3):
        feed = {"x": random.integers(-30, 31, shape).astype(np.float32)}
        np.testing.assert_array_equal(execute_onnx(after, feed)["y"], execute_onnx(model, feed)["y"])
    assert absorbed(after)[1] is False


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), unit=st.sampled_from([0.1, 0.3, 1 / 7, 0.25]), rows=st.sampled_from([1, 6]))
def test_no_integer_comes_to_another_level_by_rounding(seed, unit, rows):
    random = np.random.default_rng(seed)
    added = (random.integers(-30, 30, (1, 4, 6)) * unit).astype(np.float32)
    levels = np.sort((random.integers(-40, 40, (rows, 7)) * unit).astype(np.float32), axis=1)
    model = embedding((1, 4, 6), added, levels)
    model.set_tensor_datatype("x", DataType["INT4"])
    after, modified = absorbed(model)
    assert modified
    name = after.graph.node[1].input[1]
    thresholds = after.get_initializer(name)
    assert after.get_tensor_datatype(name) == DataType["INT5"]
    assert after.get_tensor_datatype(name).allowed(thresholds).all()
    stack = {"x": np.broadcast_to(np.arange(-8, 8, dtype=np.float32).reshape(16, 1, 1, 1), (16, 1, 4, 6))}
    np.testing.assert_array_equal(Executor(after).run(stack)["y"], Executor(model).run(stack)["y"])


@pytest.mark.parametrize(
    ("shape", "added", "levels"),
    [
        ((1, 3, 2), np.zeros(2), np.zeros((1, 3))),  # per channel
        (
            (1, 3, 2),
            np.zeros((3, 1)),
            np.zeros((1, 3)),
        ),  # per token: along one axis only, as a bias of NCHW is
        ((2, 3, 2), np.zeros((3, 2)), np.zeros((1, 3))),  # two samples at once
        ((1, 6), np.zeros((1, 6)), np.zeros((1, 3))),
    ],
)
def test_what_fits_no_row_stays(shape, added, levels):
    assert absorbed(embedding(shape, added, levels))[1] is False


def test_thresholds_of_another_axis_stay():
    model = embedding((1, 3, 2), np.zeros((3, 2)), np.zeros((3, 4)), layout="NCW")
    assert absorbed(model)[1] is False


def test_a_sum_that_others_read_stays():
    model = embedding((1, 3, 2), np.zeros((3, 2)), np.zeros((1, 3)))
    del model.graph.value_info[:]
    model.graph.output.append(helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1, 3, 2]))
    assert absorbed(model)[1] is False
