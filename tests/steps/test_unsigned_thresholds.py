"""Thresholds below 0 are clipped where inputs have no sign, and only there."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.steps.unsigned_thresholds import ClipThresholdsOfUnsigned


def thresholding(levels, **inputs):
    """Make a Thresholding of each input, by name and datatype; all have the same thresholds."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in inputs]
    nodes = [
        helper.make_node(
            "Thresholding", [name, "t"], [f"{name}_out"], name=name, domain="finn.custom_op.fpgadataflow",
            backend="fpgadataflow",
        )
        for name in inputs
    ]  # fmt: skip
    outputs = [helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, [1, 2]) for name in inputs]
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "levels", values, outputs)))
    model.set_initializer("t", np.asarray([levels], np.float32))
    for name, datatype in {**inputs, "t": "INT3"}.items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model


def levels_of(model):
    found = [node.input[1] for node in model.graph.node]
    return [(model.get_initializer(name).tolist(), model.get_tensor_datatype(name).name) for name in found]


@pytest.mark.parametrize(
    ("datatype", "expected"), [("UINT4", ([[0, 0, 3]], "UINT2")), ("INT4", ([[-2, 0, 3]], "INT3"))]
)
def test_thresholds_of_inputs_without_a_sign_are_clipped(datatype, expected):
    assert levels_of(thresholding([-2, 0, 3], x=datatype).transform(ClipThresholdsOfUnsigned())) == [expected]


@pytest.mark.parametrize("kinds", [("UINT4", "INT4"), ("INT4", "UINT4"), ("UINT4", "UINT4")])
def test_thresholds_that_another_layer_has_too_stay_its_own(kinds):
    clipped = {"UINT4": ([[0, 0, 3]], "UINT2"), "INT4": ([[-2, 0, 3]], "INT3")}
    model = thresholding([-2, 0, 3], x=kinds[0], w=kinds[1]).transform(ClipThresholdsOfUnsigned())
    assert levels_of(model) == [clipped[kind] for kind in kinds]
