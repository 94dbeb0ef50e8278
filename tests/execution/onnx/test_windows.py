"""Sliding windows in standard operators, against QONNX's and FINN's own execution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.program.single_node import FINN, one_node, whole_numbers


def size(length, kernel, stride, dilation, padding):
    return (length + padding - dilation * (kernel - 1) - 1) // stride + 1


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 1000), st.tuples(st.integers(5, 8), st.integers(5, 8), st.integers(1, 6)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)), st.tuples(st.integers(1, 2), st.integers(1, 2)),
    st.sampled_from([[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 2, 1]]), st.sampled_from([[1, 1], [2, 1]]), st.sampled_from([0, 3]),
)  # fmt: skip
def test_im2col(seed, image, kernel, stride, pads, dilations, value):
    height, width, channels = image
    rows = size(height, kernel[0], stride[0], dilations[0], pads[0] + pads[2])
    columns = size(width, kernel[1], stride[1], dilations[1], pads[1] + pads[3])
    model = one_node(
        "Im2Col", {"x": (1, *image)}, {"y": (1, rows, columns, kernel[0] * kernel[1] * channels)},
        datatypes={"x": "INT4"}, kernel_size=list(kernel), stride=list(stride), pad_amount=pads, pad_value=value,
        dilations=dilations, input_shape=f"(1,{height},{width},{channels})",
    )  # fmt: skip
    assert_rewritten_right(model, x=whole_numbers(np.random.default_rng(seed), -8, 7, (3, 1, *image)))


@pytest.mark.parametrize("channels", [1, 4, 6])
@pytest.mark.parametrize("op_type", ["ConvolutionInputGenerator", "ConvolutionInputGenerator_rtl"])
@pytest.mark.parametrize("depthwise", [0, 1])
def test_window_generator(channels, op_type, depthwise):
    stated = {"Stride": [2, 1], "Dilation": [1, 1], "depthwise": depthwise, "SIMD": 2 if channels > 1 else 1}
    model = one_node(
        op_type, {"x": (1, 6, 5, channels)}, {"y": (1, 2, 4, 6 * channels)},
        domain=FINN + (".rtl" if op_type.endswith("_rtl") else ""), datatypes={"x": "INT4"}, ConvKernelDim=[3, 2],
        IFMDim=[6, 5], OFMDim=[2, 4], IFMChannels=channels, inputDataType="INT4", outputDataType="INT4", is1D=0,
        exec_mode="cppsim", backend="fpgadataflow", **stated,
    )  # fmt: skip
    assert_rewritten_right(model, x=whole_numbers(np.random.default_rng(1), -8, 7, (3, 1, 6, 5, channels)))


def test_padding():
    model = one_node(
        "FMPadding", {"x": (1, 3, 4, 2)}, {"y": (1, 6, 6, 2)}, domain=FINN, datatypes={"x": "UINT4"},
        ImgDim=[3, 4], Padding=[1, 0, 2, 2], NumChannels=2, SIMD=1, inputDataType="UINT4",
    )  # fmt: skip
    assert_rewritten_right(model, x=whole_numbers(np.random.default_rng(1), 0, 15, (3, 1, 3, 4, 2)))


def test_a_batch_of_images_is_refused():
    model = one_node(
        "Im2Col", {"x": (2, 4, 4, 1)}, {"y": (2, 2, 2, 9)}, datatypes={"x": "INT4"}, kernel_size=[3, 3], stride=[1, 1],
        input_shape="(2,4,4,1)",
    )  # fmt: skip
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "node 'node' (Im2Col) cannot be written with standard ONNX operators: its image must have shape "
        "(1, height, width, channels), not (2, 4, 4, 1)"
    )
