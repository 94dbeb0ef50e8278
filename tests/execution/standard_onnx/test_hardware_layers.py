"""FINN's layers that move, join, choose or compute value by value, against their own Python models."""

from importlib import import_module

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.execution.standard_onnx.rewrite import rewrite
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.lowering.single_node import FINN, QONNX, one_node, whole_numbers
from tests.execution.standard_onnx.rewritten import assert_rewritten_right, run_rewritten

WHOLE = {"x": "INT4"}

prepare_finn()
import_module("finn.custom_op.fpgadataflow.reshape")  # enters the kernel, which the package itself does not


def drawn(*shape, low=-8, high=7):
    return whole_numbers(np.random.default_rng(2), low, high, (3, *shape))


def hardware(op_type, inputs, outputs, constants=None, datatypes=WHOLE, **stated):
    return one_node(op_type, inputs, outputs, constants, FINN, datatypes=datatypes, **stated)


SAME = [
    ("StreamingFIFO", {"depth": 2, "folded_shape": [1, 4, 1], "normal_shape": [1, 4], "dataType": "INT4"}, (1, 4)),
    ("StreamingDataWidthConverter",
     {"inShape": [1, 4], "outShape": [1, 4], "inWidth": 4, "outWidth": 8, "dataType": "INT4"}, (1, 4)),
    ("Reshape", {"inp_shape": [1, 4], "out_shape": [1, 2, 2], "dtype": "INT4"}, (1, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "stated", "shape"), SAME, ids=[case[0] for case in SAME])
def test_layers_that_pass_values_on(op_type, stated, shape):
    assert_rewritten_right(hardware(op_type, {"x": (1, 4)}, {"y": shape}, **stated), x=drawn(1, 4))


def test_duplicated_streams():
    stated = {
        "NumChannels": 4,
        "PE": 1,
        "NumOutputStreams": 2,
        "inputDataType": "INT4",
        "numInputVectors": [1],
    }
    model = hardware("DuplicateStreams", {"x": (1, 4)}, {"y": (1, 4), "z": (1, 4)}, **stated)
    assert_rewritten_right(model, x=drawn(1, 4))


def test_a_marker_gives_its_input():
    model = one_node("DebugMarker", {"x": (1, 4)}, {"y": (1, 4)}, domain=QONNX, export_debug_name="marked")
    assert_rewritten_right(model, x=drawn(1, 4))


def test_concat():
    stated = {
        "SIMD": 1,
        "ChannelsPerStream": [4, 2],
        "inputDataTypes": ["INT4", "INT4"],
        "numInputVectors": [1, 3],
    }
    inputs = {"x": (1, 3, 4), "z": (1, 3, 2)}
    model = hardware(
        "StreamingConcat", inputs, {"y": (1, 3, 6)}, datatypes={"x": "INT4", "z": "INT4"}, **stated
    )
    assert_rewritten_right(model, x=drawn(1, 3, 4), z=drawn(1, 3, 2))


def test_split():
    stated = {"SIMD": 1, "ChannelsPerStream": [4, 2], "inputDataType": "INT4", "numInputVectors": [1, 3]}
    model = hardware("StreamingSplit", {"x": (1, 3, 6)}, {"y": (1, 3, 4), "z": (1, 3, 2)}, **stated)
    assert_rewritten_right(model, x=drawn(1, 3, 6))


def test_upsample():
    stated = {
        "HO": 6,
        "WO": 4,
        "HI": 3,
        "WI": 2,
        "NumChannels": 2,
        "inputDataType": "INT4",
        "numInputVectors": 1,
    }
    model = hardware("UpsampleNearestNeighbour", {"x": (1, 3, 2, 2)}, {"y": (1, 6, 4, 2)}, **stated)
    assert_rewritten_right(model, x=drawn(1, 3, 2, 2))


def test_crop():
    stated = {
        "ImgDim": [4, 5],
        "NumChannels": 2,
        "CropNorth": 1,
        "CropEast": 2,
        "CropSouth": 0,
        "CropWest": 1,
    }
    vectors = {"SIMD": 1, "DataType": "INT4", "numInputVectors": [1]}
    model = hardware("Crop", {"x": (1, 4, 5, 2)}, {"y": (1, 3, 2, 2)}, **stated, **vectors)
    assert_rewritten_right(model, x=drawn(1, 4, 5, 2))


def test_a_token():
    stated = {"TokenIndex": -1, "NumTokens": 4, "NumChannels": 3, "SIMD": 1, "inputDataType": "INT4"}
    assert_rewritten_right(
        hardware("SelectToken", {"x": (1, 4, 3)}, {"y": (1, 3)}, **stated), x=drawn(1, 4, 3)
    )


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
MOVES = [
    ("ShuffleKernel", {"transpose_in_shape": [1, 3, 2, 2], "perm": [2, 0, 3, 1]}, (1, 3, 4), (2, 2, 3)),
    ("CropKernel", {"starts": [1, 0, 2], "sizes": [1, 3, 2]}, (2, 3, 4), (3, 2)),
]


@pytest.mark.parametrize(("op_type", "stated", "shape", "result"), MOVES, ids=[case[0] for case in MOVES])
def test_our_layers_that_move_values_of_the_first_axis_too(op_type, stated, shape, result):
    common = {"in_shape": list(shape), "out_shape": list(result), "dataType": "INT4"}
    model = one_node(op_type, {"x": shape}, {"y": result}, None, OURS, datatypes=WHOLE, **stated, **common)
    x = drawn(*shape)
    given = run_rewritten(model, {"x": x})["y"]
    for stack, found in zip(x, given, strict=True):
        if op_type == "CropKernel":
            wanted = stack[1:2, 0:3, 2:4].reshape(result)
        else:
            wanted = stack.reshape(1, 3, 2, 2).transpose(2, 0, 3, 1).reshape(result)
        np.testing.assert_array_equal(found, wanted)


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
