"""What FINN's backends cannot be is told before anything is generated."""

import pytest
from onnx import helper

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from brainsmith.rtl.cores.finn_choice import finn_supports  # noqa: E402


def test_thresholds_of_signs_are_no_rtl():
    node = helper.make_node(
        "Thresholding", ["x", "t"], ["y"], domain="finn.custom_op.fpgadataflow", inputDataType="BIPOLAR"
    )
    answer = finn_supports(None, node, "rtl", "xczu7ev-ffvc1156-2-e")
    assert not answer
    assert answer.reason == "it would compare the bits of its BIPOLAR input, 0 and 1, in place of -1 and 1"


@pytest.mark.parametrize(
    ("image", "kernel", "stride", "said"),
    [
        ((4, 4), (1, 2), (2, 2), "H increment > buffer size, try setting parallel_window=1"),
        ((2, 4), (1, 2), (3, 2), "Illegal conv configuration: kernel or stride > FM dimension"),
    ],
)
def test_a_window_that_finn_cannot_generate_has_its_reason(image, kernel, stride, said):
    node = helper.make_node(
        "ConvolutionInputGenerator", ["x"], ["y"], domain="finn.custom_op.fpgadataflow", ConvKernelDim=kernel,
        IFMChannels=2, IFMDim=image, OFMDim=[(i - k) // s + 1 for i, k, s in zip(image, kernel, stride, strict=True)],
        SIMD=1, Stride=stride, Dilation=[1, 1], inputDataType="INT4", outputDataType="INT4",
    )  # fmt: skip
    answer = finn_supports(None, node, "rtl", "xczu7ev-ffvc1156-2-e")
    window, by, size = ("x".join(map(str, pair)) for pair in (kernel, stride, image))
    assert answer.reason == (
        f"FINN's circuit cannot slide a window of {window} with stride {by} over an image of {size} ({said}): change the "
        "stride, the padding or the window"
    )


@pytest.mark.parametrize(
    ("op_type", "sizes", "said"),
    [
        ("MVAU", {"MW": 6, "MH": 4, "SIMD": 6}, "MW"),
        ("MVAU", {"MW": 1, "MH": 4, "SIMD": 1}, "MW"),
        ("VVAU", {"Kernel": [3, 2], "Channels": 4, "Dim": [2, 2], "SIMD": 6}, "the size of Kernel"),
    ],
)
def test_a_matrix_vector_unit_that_takes_all_of_a_result_at_once_is_no_rtl(op_type, sizes, said):
    node = helper.make_node(
        op_type, ["x", "w"], ["y"], domain="finn.custom_op.fpgadataflow", PE=1, noActivation=1, inputDataType="INT4",
        weightDataType="INT4", outputDataType="INT16", **sizes,
    )  # fmt: skip
    answer = finn_supports(None, node, "rtl", "xcvc1902-vsva2197-2MP-e-S")
    assert answer.reason == (
        f"with SIMD equal to {said}, FINN's matrix-vector unit loses results under back-pressure at its output"
    )


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [((2, 2), (4, 4), (2, 3)), ((2, 1), (4, 1), (1, 1))]
)
def test_a_window_that_steps_beyond_its_taps_is_refused(kernel, stride, dilation):
    """FINN generates a circuit, which then loses values or stops; which one depends on the folding."""
    node = helper.make_node(
        "ConvolutionInputGenerator", ["x"], ["y"], domain="finn.custom_op.fpgadataflow", ConvKernelDim=kernel,
        IFMChannels=2, IFMDim=(6, 9), OFMDim=[(i - (k - 1) * d - 1) // s + 1
                                               for i, k, s, d in zip((6, 9), kernel, stride, dilation, strict=True)],
        SIMD=1, Stride=stride, Dilation=dilation, inputDataType="INT4", outputDataType="INT4",
    )  # fmt: skip
    window, by = ("x".join(map(str, pair)) for pair in (kernel, stride))
    assert finn_supports(None, node, "rtl", "xczu7ev-ffvc1156-2-e").reason == (
        f"FINN's circuit loses values of a window of {window} with stride {by}, which steps beyond its taps: change the "
        "stride or the window"
    )
