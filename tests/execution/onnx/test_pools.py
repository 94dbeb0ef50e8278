"""Pooling in standard operators, against QONNX's and FINN's own execution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import assert_rewritten_right, run_rewritten
from tests.execution.program.single_node import FINN, one_node, whole_numbers


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 1000), st.integers(1, 8), st.integers(2, 8), st.booleans(), st.integers(1, 3), st.integers(1, 2),
    st.booleans(),
)  # fmt: skip
def test_quant_average(seed, given_bits, kept_bits, signed, kernel, stride, last):
    side = (7 - kernel) // stride + 1
    shape, result = ((1, 7, 7, 3), (1, side, side, 3)) if last else ((1, 3, 7, 7), (1, 3, side, side))
    model = one_node(
        "QuantAvgPool2d", {"x": shape}, {"y": result}, stride=stride, kernel=kernel, ibits=given_bits,
        obits=kept_bits, signed=int(signed), data_layout="NHWC" if last else "NCHW",
    )  # fmt: skip
    low, high = (-(2 ** (given_bits - 1)), 2 ** (given_bits - 1) - 1) if signed else (0, 2**given_bits - 1)
    assert_rewritten_right(model, x=whole_numbers(np.random.default_rng(seed), low, high, (3, *shape)))


def test_max_pool_of_channels_last():
    model = one_node(
        "MaxPoolNHWC",
        {"x": (1, 6, 6, 3)},
        {"y": (1, 3, 3, 3)},
        kernel_shape=[2, 2],
        strides=[2, 2],
        pads=[0, 0, 0, 0],
    )
    assert_rewritten_right(model, x=np.random.default_rng(0).normal(size=(3, 1, 6, 6, 3)).astype(np.float32))


def pool(function, op_type="Pool", **more):
    stated = {"KernelSize": [2, 2], "OutImgDims": [3, 2], "Channels": 4, "PE": 2, "BatchSize": 1, **more}
    domain = FINN + (".rtl" if op_type.endswith("_rtl") else "")
    return one_node(
        op_type, {"x": (1, 3, 2, 16)}, {"y": (1, 3, 2, 4)}, domain=domain, datatypes={"x": "INT4"}, Function=function,
        InputDataType="INT4", OutputDataType="INT8", backend="fpgadataflow", **stated,
    )  # fmt: skip


@pytest.mark.parametrize(("function", "relative"), [("MaxPool", 0), ("AccPool", 0), ("AvgPool", 1e-6)])
def test_pool(function, relative):
    x = whole_numbers(np.random.default_rng(0), -8, 7, (3, 1, 3, 2, 16))
    assert_rewritten_right(pool(function), relative=relative, x=x)


def test_pool_that_shifts_as_its_hardware_does():
    x = whole_numbers(np.random.default_rng(0), -8, 7, (3, 1, 3, 2, 16))
    given = run_rewritten(pool("QuantAvgPool", Size=2), {"x": x})["y"]
    np.testing.assert_array_equal(given, np.floor(x.reshape(3, 1, 3, 2, 4, 4).sum(axis=4) / 4))


def test_pool_of_rtl_takes_groups_of_channels():
    x = whole_numbers(np.random.default_rng(0), -8, 7, (3, 1, 3, 2, 16))
    given = run_rewritten(pool("MaxPool", "Pool_rtl"), {"x": x})["y"]
    np.testing.assert_array_equal(given, x.reshape(3, 1, 3, 2, 2, 4, 2).max(axis=5).reshape(3, 1, 3, 2, 4))


def test_an_unknown_function_is_refused():
    with pytest.raises(ModelError) as caught:
        rewrite(pool("MinPool"))
    assert str(caught.value).endswith("standard ONNX operators: its function 'MinPool' is unknown")


def test_global_sum():
    model = one_node(
        "GlobalAccPool", {"x": (1, 3, 4, 2)}, {"y": (1, 1, 1, 2)}, domain=FINN, datatypes={"x": "INT4"}, NumChannels=2,
        PE=1, inputDataType="INT4", numInputVectors=[1, 3, 4],
    )  # fmt: skip
    assert_rewritten_right(model, x=whole_numbers(np.random.default_rng(0), -8, 7, (3, 1, 3, 4, 2)))
