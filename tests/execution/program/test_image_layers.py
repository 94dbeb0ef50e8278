"""Windows, pooling and padding with the channels last: their programs against the reference, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.custom_op.general.im2col import compute_conv_output_dim

from brainsmith.execution.fallback.node_runners import make_runner
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.program.single_node import (
    FINN,
    assert_lowered_right,
    assert_same_bits,
    is_foreign,
    one_node,
    run_program,
    whole_numbers,
)

prepare_finn()
SEEDS = st.integers(0, 1000)
PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))


def draw(seed, shape, low=-8, high=7, runs=3):
    return whole_numbers(np.random.default_rng(seed), low, high, (runs, *shape))


def windows_of(size, kernel, stride, dilation, pads=(0, 0, 0, 0)):
    both = (pads[0] + pads[2], pads[1] + pads[3])
    return [
        compute_conv_output_dim(n, k, s, p, d)
        for n, k, s, p, d in zip(size, kernel, stride, both, dilation, strict=True)
    ]


@settings(max_examples=40, deadline=None)
@given(SEEDS, PAIRS, PAIRS, PAIRS, st.sampled_from([(0, 0, 0, 0), (1, 0, 2, 1)]), st.sampled_from([0, 3]))
def test_im2col(seed, kernel, stride, dilation, pads, fill):
    shape = (2, 7, 8, 3)
    height, width = windows_of(shape[1:3], kernel, stride, dilation, pads)
    output = (height, width, 3 * kernel[0] * kernel[1])

    def model(batch):
        return one_node(
            "Im2Col", {"x": (batch, *shape[1:])}, {"y": (batch, *output)}, kernel_size=kernel, stride=stride,
            dilations=dilation, input_shape=str(shape), pad_amount=pads, pad_value=fill,
            datatypes={"x": "INT4", "y": "INT4"},
        )  # fmt: skip

    images = draw(seed, shape)
    singles = images.reshape(6, 1, *shape[1:])
    assert_lowered_right(model(1), x=singles)
    one_by_one = run_program(model(1), {"x": singles})["y"]
    assert_same_bits(run_program(model(2), {"x": images})["y"].reshape(one_by_one.shape), one_by_one)


def test_a_padding_that_the_datatype_lacks_is_left_to_qonnx():
    model = one_node(
        "Im2Col", {"x": (1, 4, 4, 1)}, {"y": (1, 4, 4, 9)}, kernel_size=[3, 3], stride=[1, 1], input_shape="(1,4,4,1)",
        pad_amount=[1, 1, 1, 1], datatypes={"x": "BIPOLAR"},
    )  # fmt: skip
    assert is_foreign(lower(runnable_copy(model)))


def window_node(kernel, stride, dilation, size=(7, 8), channels=4, simd=2, backend="", **attributes):
    height, width = windows_of(size, kernel, stride, dilation)
    return one_node(
        "ConvolutionInputGenerator" + (f"_{backend}" if backend else ""), {"x": (1, *size, channels)},
        {"y": (1, height, width, channels * kernel[0] * kernel[1])}, domain=FINN + (f".{backend}" if backend else ""),
        ConvKernelDim=kernel, IFMChannels=channels, IFMDim=size, OFMDim=[height, width], SIMD=simd, M=1, Stride=stride,
        Dilation=dilation, inputDataType="INT4", outputDataType="INT4", datatypes={"x": "INT4"}, backend="fpgadataflow",
        **attributes,
    )  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(SEEDS, PAIRS, PAIRS, PAIRS)
def test_sliding_window(seed, kernel, stride, dilation):
    assert_lowered_right(window_node(kernel, stride, dilation), x=draw(seed, (1, 7, 8, 4)))


@settings(max_examples=10, deadline=None)
@given(SEEDS, PAIRS, PAIRS, st.sampled_from([1, 2, 4]))
def test_sliding_window_of_depthwise_rtl(seed, kernel, stride, simd):
    model = window_node(kernel, stride, (1, 1), simd=simd, backend="rtl", depthwise=1, exec_mode="cppsim")
    assert_lowered_right(model, x=draw(seed, (1, 7, 8, 4)))


def pool_node(
    function, size=0, kernel=(2, 2), channels=4, lanes=2, backend="", kinds=("INT4", "INT8"), **attributes
):
    return one_node(
        "Pool" + (f"_{backend}" if backend else ""), {"x": (1, 3, 2, channels * kernel[0] * kernel[1])},
        {"y": (1, 3, 2, channels)}, domain=FINN + (f".{backend}" if backend else ""), Function=function,
        Channels=channels, PE=lanes, KernelSize=kernel, OutImgDims=[3, 2], InputDataType=kinds[0],
        OutputDataType=kinds[1], Size=size, datatypes={"x": kinds[0]}, backend="fpgadataflow", **attributes,
    )  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(["MaxPool", "AccPool", "AvgPool"]), PAIRS)
def test_pool(seed, function, kernel):
    assert_lowered_right(
        pool_node(function, kernel=kernel), x=draw(seed, (1, 3, 2, 4 * kernel[0] * kernel[1]))
    )


@pytest.mark.parametrize("function", ["MaxPool", "AccPool", "AvgPool"])
def test_pool_of_floats(function):
    model = pool_node(function, kinds=("FLOAT32", "FLOAT32"))
    x = np.random.default_rng(0).normal(0, 3, (3, 1, 3, 2, 16)).astype(np.float32)
    x[0, 0, 0, 0, :3] = [np.inf, -np.inf, np.nan]
    assert_lowered_right(model, x=x)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_quantised_mean_shifts_as_the_hardware_does(size):
    x = draw(size, (1, 3, 2, 16))
    given = run_program(pool_node("QuantAvgPool", size), {"x": x})["y"]
    sums = x.reshape(3, 1, 3, 2, 4, 4).sum(axis=-2)
    assert_same_bits(given, np.floor(sums / np.float32(2**size)))


@pytest.mark.parametrize("function", ["MaxPool", "AccPool", "QuantAvgPool"])
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_pool_in_rtl_takes_windows_some_channels_at_a_time(function, lanes):
    model = pool_node(function, 1, lanes=lanes, backend="rtl", exec_mode="cppsim")
    x = draw(lanes, (1, 3, 2, 16))
    given = run_program(model, {"x": x})["y"]
    runner = make_runner(model, model.graph.node[0], {})
    assert_same_bits(given, np.stack([runner.once({"x": one})["y"] for one in x]))


@settings(max_examples=20, deadline=None)
@given(SEEDS, PAIRS, PAIRS, st.sampled_from([(0, 0), (1, 1), (0, 1)]), st.booleans())
def test_max_pool(seed, kernel, strides, pads, ceil):
    pads = tuple(min(pad, size - 1) for pad, size in zip(pads, kernel, strict=True))
    outputs = [
        int((np.ceil if ceil else np.floor)((size + 2 * pad - k) / step + 1))
        for size, pad, k, step in zip((7, 6), pads, kernel, strides, strict=True)
    ]
    if any((out - 1) * s >= n + p for out, s, n, p in zip(outputs, strides, (7, 6), pads, strict=True)):
        return  # a window that begins behind the image: ONNX Runtime drops it, and QONNX's shape has it
    model = one_node(
        "MaxPoolNHWC", {"x": (1, 7, 6, 3)}, {"y": (1, *outputs, 3)}, kernel_shape=kernel, strides=strides,
        pads=[*pads, *pads], ceil_mode=int(ceil), datatypes={"x": "INT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(seed, (1, 7, 6, 3)))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(1, 3), st.sampled_from([2, 4]), st.booleans(), st.booleans())
def test_quantised_mean(seed, kernel, stride, bits, signed, last):
    out = (8 - kernel) // stride + 1
    shapes = [(1, 3, 8, 8), (1, 3, out, out)]
    if last:
        shapes = [(s[0], s[2], s[3], s[1]) for s in shapes]
    model = one_node(
        "QuantAvgPool2d", {"x": shapes[0]}, {"y": shapes[1]}, kernel=kernel, stride=stride, ibits=4, obits=bits,
        signed=int(signed), data_layout="NHWC" if last else "NCHW", datatypes={"x": "INT4" if signed else "UINT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(seed, shapes[0], *((-8, 7) if signed else (0, 15))))


@pytest.mark.parametrize("kind", ["INT8", "FLOAT32"])
def test_global_sum(kind):
    model = one_node(
        "GlobalAccPool", {"x": (1, 5, 4, 6)}, {"y": (1, 1, 1, 6)}, domain=FINN, NumChannels=6, PE=1,
        inputDataType=kind, numInputVectors=[1, 5, 4], datatypes={"x": kind},
    )  # fmt: skip
    x = draw(0, (1, 5, 4, 6), -128, 127)
    assert_lowered_right(model, x=x if kind == "INT8" else x / np.float32(7))


@pytest.mark.parametrize("padding", [[1, 2, 0, 3], [0, 0, 0, 0]])
def test_padding(padding):
    shape = (1, 4 + padding[0] + padding[2], 5 + padding[1] + padding[3], 3)
    model = one_node(
        "FMPadding", {"x": (1, 4, 5, 3)}, {"y": shape}, domain=FINN, ImgDim=[4, 5], Padding=padding, NumChannels=3,
        SIMD=1, inputDataType="UINT4", datatypes={"x": "UINT4", "y": "UINT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(0, (1, 4, 5, 3), 1, 15))


@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
def test_padding_between_pixels(stride):
    shape = (1, 1 + 3 * stride[0], 1 + 4 * stride[1], 3)
    model = one_node(
        "FMPadding_Pixel", {"x": (1, 4, 5, 3)}, {"y": shape}, domain=FINN, ImgDim=[4, 5], Stride=stride, NumChannels=3,
        SIMD=1, inputDataType="INT4", datatypes={"x": "INT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(0, (1, 4, 5, 3)))
