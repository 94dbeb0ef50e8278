"""FINN's layers that move, join, choose or compute value by value, against their own Python models."""

from importlib import import_module

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.onnx.rewritten import assert_rewritten_right, run_rewritten
from tests.execution.program.single_node import FINN, one_node, whole_numbers

WHOLE = {"x": "INT4"}

prepare_finn()
import_module("finn.custom_op.fpgadataflow.reshape")  # enters the kernel, which the package itself does not


def drawn(*shape, low=-8, high=7):
    return whole_numbers(np.random.default_rng(2), low, high, (3, *shape))


def hardware(op_type, inputs, outputs, constants=None, datatypes=WHOLE, **stated):
    return one_node(op_type, inputs, outputs, constants, FINN, datatypes=datatypes, **stated)


@pytest.mark.parametrize("operation", ["Add", "Sub", "Mul"])
def test_elementwise(operation):
    stated = {
        "lhs_dtype": "INT4",
        "rhs_dtype": "INT4",
        "out_dtype": "INT8",
        "lhs_shape": [1, 3],
        "rhs_shape": [1, 3],
    }
    inputs, datatypes = {"x": (1, 3), "z": (1, 3)}, {"x": "INT4", "z": "INT4"}
    model = hardware(
        f"Elementwise{operation}", inputs, {"y": (1, 3)}, datatypes=datatypes, out_shape=[1, 3], **stated
    )
    assert_rewritten_right(model, x=drawn(1, 3), z=drawn(1, 3)[::-1])


def test_elementwise_beyond_float32_is_refused():
    stated = {
        "lhs_dtype": "INT16",
        "rhs_dtype": "INT16",
        "out_dtype": "INT32",
        "lhs_shape": [1, 3],
        "rhs_shape": [1, 3],
    }
    datatypes = {"x": "INT16", "z": "INT16"}
    inputs = {"x": (1, 3), "z": (1, 3)}
    model = hardware("ElementwiseMul", inputs, {"y": (1, 3)}, datatypes=datatypes, **stated, out_shape=[1, 3])
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value).endswith(": its results may reach 1073741824, where float32 is not exact")


def test_an_attribute_that_is_missing():
    with pytest.raises(ModelError) as caught:
        rewrite(hardware("StreamingSplit", {"x": (1, 6)}, {"y": (1, 4), "z": (1, 2)}))
    assert str(caught.value) == (
        "node 'node' (StreamingSplit) cannot be written with standard ONNX operators: its attribute ChannelsPerStream is "
        "missing"
    )


@pytest.mark.parametrize("count", [1, 3])
def test_label_select(count):
    stated = {"Labels": 6, "PE": 1, "K": count, "inputDataType": "INT8", "outputDataType": "UINT4"}
    datatypes = {"x": "INT8"}
    model = hardware(
        "LabelSelect", {"x": (1, 6)}, {"y": (1, count)}, None, datatypes, **stated, numInputVectors=[1]
    )
    assert_rewritten_right(
        model, x=np.float32([[[1, 5, 5, 0, -3, 2]], [[9, 9, 9, 9, 9, 9]], [[0, 1, 2, 3, 4, 5]]])
    )


def test_channels_last():
    random = np.random.default_rng(0)
    constants = {"w": random.integers(-4, 4, (5, 3, 3, 2)).astype(np.float32)}
    stated = {
        "kernel_shape": [3, 3],
        "strides": [1, 1],
        "pads": [1, 1, 1, 1],
        "dilations": [1, 1],
        "group": 1,
    }
    domain = "qonnx.custom_op.channels_last"
    model = one_node("Conv", {"x": (1, 4, 4, 2)}, {"y": (1, 4, 4, 5)}, constants, domain, opset=13, **stated)
    assert_rewritten_right(model, x=drawn(1, 4, 4, 2))
    stated = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0]}
    model = one_node("MaxPool", {"x": (1, 4, 4, 2)}, {"y": (1, 2, 2, 2)}, None, domain, opset=13, **stated)
    assert_rewritten_right(model, x=drawn(1, 4, 4, 2))


OURS = "brainsmith.kernels"


@pytest.mark.parametrize(("datatype", "low", "high"), [("INT4", -8, 7), ("INT16", -(2**15), 2**15 - 1)])
def test_our_product_of_two_matrices(datatype, low, high):
    inputs, datatypes = {"x": (1, 3, 4), "z": (1, 4, 5)}, {"x": datatype, "z": datatype}
    model = one_node("MatMulKernel", inputs, {"y": (1, 3, 5)}, None, OURS, datatypes=datatypes)
    x, z = drawn(1, 3, 4, low=low, high=high), drawn(1, 4, 5, low=low, high=high)
    given = run_rewritten(model, {"x": x, "z": z})["y"]
    np.testing.assert_array_equal(given, np.matmul(x.astype(np.float64), z).astype(np.float32))


def test_a_backend_of_another_name_is_written_as_its_kernel():
    a, b = drawn(1, 3, 4), drawn(1, 3, 4)
    model = one_node(
        "ElementwiseAddInt_rtl", {"a": (1, 3, 4), "b": (1, 3, 4)}, {"y": (1, 3, 4)}, None, f"{FINN}.rtl",
        lhs_shape=[1, 3, 4], rhs_shape=[1, 3, 4], out_shape=[1, 3, 4], lhs_dtype="INT4", rhs_dtype="INT4",
        out_dtype="INT5", lhs_style="input", rhs_style="input", datatypes={"a": "INT4", "b": "INT4"},
    )  # fmt: skip
    np.testing.assert_array_equal(run_rewritten(model, {"a": a, "b": b})["y"], a + b)
