"""FitThresholdLayouts: a layout has as many axes as the tensor that it is of."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.transforms.fit_threshold_layouts import FitThresholdLayouts


def threshold(shape, **layout):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name in "xy"]
    node = helper.make_node(
        "MultiThreshold",
        ["x", "levels"],
        ["y"],
        domain="qonnx.custom_op.general",
        out_dtype="UINT2",
        **layout,
    )
    graph = helper.make_graph([node], "test", values[:1], values[1:])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    model.set_initializer("levels", np.asarray([[-1.0, 0.0, 1.0]], np.float32))
    return model


def stated(model):
    return [
        attribute.s.decode() for attribute in model.graph.node[0].attribute if attribute.name == "data_layout"
    ]


@pytest.mark.parametrize(
    ("shape", "before", "after"),
    [((1, 8, 4), "NHWC", "NWC"), ((1, 2, 8, 4), "NWC", "NHWC"), ((1, 4), "NWC", "NC")],
)
def test_a_layout_of_other_axes_becomes_channels_last(shape, before, after):
    model = threshold(shape, data_layout=before)
    model, modified = FitThresholdLayouts().apply(model)
    assert (modified, stated(model)) == (True, [after])
    assert model.get_tensor_layout("y") == list(after)
    feed = {"x": np.random.default_rng(0).integers(-2, 3, shape).astype(np.float32)}
    expected = sum(feed["x"] >= level for level in (-1, 0, 1))
    np.testing.assert_array_equal(execute_onnx(model, feed)["y"], expected)
    assert FitThresholdLayouts().apply(model)[1] is False


@pytest.mark.parametrize(
    ("shape", "layout"),
    [((1, 2, 3, 4), {"data_layout": "NCHW"}), ((1, 2, 3), {}), ((1, 2, 2, 2, 2), {"data_layout": "NHWC"})],
)
def test_layouts_that_may_be_right_stay(shape, layout):
    model, modified = FitThresholdLayouts().apply(threshold(shape, **layout))
    assert (modified, stated(model)) == (False, list(layout.values()))
