"""Datatypes of matrix products with 1-bit weights, which FINN's own minimisation gets wrong."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.build.config import StepConfig
from brainsmith.steps.bit_widths import minimise_bit_widths

FINN = "finn.custom_op.fpgadataflow"


def two_products(fed, weight, xnor, size=784, last=4):
    """Return a model of two MVAU kernels in a row, half of whose first weights are 1."""
    ones = np.ones((size, last), np.float32)
    ones[::2] = 0 if xnor else -1
    kinds = {"x": fed, "w": weight, "y": "INT32", "v": "INT4", "z": "INT32"}
    first = {"MW": size, "MH": last, "inputDataType": fed, "weightDataType": weight, "binaryXnorMode": xnor}
    second = {"MW": last, "MH": 2, "inputDataType": "INT32", "weightDataType": "INT4", "binaryXnorMode": 0}
    common = {"SIMD": 1, "PE": 1, "noActivation": 1, "outputDataType": "INT32", "backend": "fpgadataflow"}
    nodes = [
        helper.make_node("MVAU", ["x", "w"], ["y"], name="first", domain=FINN, **first, **common),
        helper.make_node("MVAU", ["y", "v"], ["z"], name="second", domain=FINN, **second, **common),
    ]
    graph = helper.make_graph(
        nodes,
        "products",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, size])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2])],
        [
            numpy_helper.from_array(ones, "w"),
            numpy_helper.from_array(np.full((last, 2), 7.0, np.float32), "v"),
        ],
        value_info=[helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, last])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FINN, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for name, kind in kinds.items():
        model.set_tensor_datatype(name, DataType[kind])
    return model


@pytest.mark.parametrize(
    ("fed", "weight", "xnor", "kept", "given"),
    [
        (
            "BINARY",
            "BINARY",
            1,
            "BINARY",
            "UINT10",
        ),  # FINN: INT10, for the sum of 0/1 inputs times -1/1 weights
        ("INT4", "BIPOLAR", 0, "BIPOLAR", "INT14"),  # FINN: INT2
        ("INT4", "INT4", 0, "INT2", "INT14"),  # other weights become as narrow as they can, as before
    ],
)
def test_one_bit_weights_stay_and_counts_fit(tmp_path, fed, weight, xnor, kept, given):
    config = StepConfig(str(tmp_path), 5.0, "xczu7ev-ffvc1156-2-e", None, {})
    model = minimise_bit_widths(two_products(fed, weight, xnor), config)
    layer = getCustomOp(model.graph.node[0])
    assert layer.get_nodeattr("weightDataType") == kept
    assert (layer.get_nodeattr("accDataType"), layer.get_nodeattr("outputDataType")) == (given, given)
    assert model.get_tensor_datatype("y").name == given
    assert getCustomOp(model.graph.node[1]).get_nodeattr("inputDataType") == given


def test_weights_of_minus_one_and_0_are_not_bipolar(tmp_path):
    model = two_products("INT4", "INT4", 0, size=8)
    model.set_initializer("w", np.float32([[-1, 0, 0, 0]] * 8))
    found = minimise_bit_widths(model, StepConfig(str(tmp_path), 5.0))
    assert getCustomOp(found.graph.node[0]).get_nodeattr("weightDataType") == "INT2"


def test_weights_of_minus_one_of_channels_are_not_bipolar(tmp_path):
    ends = {"x": [1, 1, 1, 8], "y": [1, 1, 1, 2]}
    node = helper.make_node(
        "VVAU", ["x", "w"], ["y"], name="windows", domain=FINN, backend="fpgadataflow", PE=1, Channels=2, Dim=[1, 1],
        Kernel=[2, 2], noActivation=1, inputDataType="BIPOLAR", weightDataType="TERNARY", outputDataType="INT32",
    )  # fmt: skip
    given, taken = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ends[name])] for name in ("y", "x")
    )
    weights = [numpy_helper.from_array(np.full((2, 1, 2, 2), -1, np.float32), "w")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FINN, 1)]
    model = ModelWrapper(
        helper.make_model(helper.make_graph([node], "channels", taken, given, weights), opset_imports=opsets)
    )
    for name, kind in {"x": "BIPOLAR", "w": "TERNARY", "y": "INT32"}.items():
        model.set_tensor_datatype(name, DataType[kind])
    found = minimise_bit_widths(model, StepConfig(str(tmp_path), 5.0))
    assert getCustomOp(found.graph.node[0]).get_nodeattr("weightDataType") == "INT2"
