"""Windows are taken in the order in which they are given, and layers that begin early say so."""

import pytest
from onnx import helper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from brainsmith.rtl.stitching.orders import check_windows, early_layers

DOMAIN = "finn.custom_op.fpgadataflow.rtl"


def instance(op_type, name, given, taken, **attributes):
    return getCustomOp(helper.make_node(op_type, [taken], [given], name=name, domain=DOMAIN, **attributes))


def layers(simd, pe, depthwise=1, kernel=(2, 2), converter=False):
    window = instance(
        "ConvolutionInputGenerator_rtl", "window", "w", "x", SIMD=simd, depthwise=depthwise, IFMChannels=8,
        ConvKernelDim=kernel, IFMDim=[4, 4], OFMDim=[2, 2], Stride=[2, 2], Dilation=[1, 1], inputDataType="INT4",
        outputDataType="INT4",
    )  # fmt: skip
    between = instance(
        "StreamingDataWidthConverter_rtl", "converter", "v", "w", inShape=[1, 8], outShape=[1, 8], inWidth=8,
        outWidth=8, dataType="INT4",
    )  # fmt: skip
    pool = instance(
        "Pool_rtl", "pool", "y", "v" if converter else "w", Channels=8, PE=pe, KernelSize=kernel, OutImgDims=[2, 2],
        Function="MaxPool", InputDataType="INT4", OutputDataType="INT4",
    )  # fmt: skip
    return {"window": window, **({"converter": between} if converter else {}), "pool": pool}


@pytest.mark.parametrize(
    "found",
    [
        layers(2, 2),
        layers(2, 2, converter=True),
        layers(8, 8, depthwise=0),
        layers(4, 2, kernel=(1, 1)),
        {"pool": layers(2, 2)["pool"]},
    ],
)
def test_windows_in_the_same_order_are_fine(found):
    check_windows(found)


@pytest.mark.parametrize(
    ("found", "given"),
    [
        (layers(4, 2), 4),
        (layers(4, 2, converter=True), 4),
        (layers(2, 2, depthwise=0), 8),
    ],
)
def test_windows_in_another_order_are_refused(found, given):
    with pytest.raises(BuildError) as caught:
        check_windows(found)
    assert str(caught.value) == (
        "windows would be mixed up:\n"
        f"  pool takes windows of 2 channels at a time (PE), and window gives those of {given}\n"
        "  fold both layers alike, the sliding window with depthwise = 1"
    )


@pytest.mark.slow
def test_padding_may_begin_before_its_frame():
    padding = instance(
        "FMPadding_rtl", "padding", "y", "x", ImgDim=[2, 2], Padding=[1, 1, 1, 1], NumChannels=2, SIMD=1,
        inputDataType="INT4",
    )  # fmt: skip
    assert early_layers({"pad": padding, **layers(2, 2)}) == {"pad"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "dilation", "padding", "early"),
    [
        ((2, 2), (1, 1), (1, 1), False),  # the last pixel of the first window is the first one of the image
        ((2, 2), (1, 1), (1, 2), True),
        ((2, 2), (1, 1), (2, 0), True),
        ((2, 2), (2, 2), (2, 2), False),
        ((1, 3), (1, 1), (0, 2), False),
        ((1, 3), (1, 1), (0, 3), True),
        ((1, 1), (1, 1), (1, 1), False),  # `Design.surplus` knows windows of one pixel
    ],
)
def test_windows_that_lie_wholly_in_padding_begin_early(kernel, dilation, padding, early):
    nodes = layers(2, 2, kernel=kernel)
    window = nodes["window"]
    window.set_nodeattr("Dilation", list(dilation))
    window.onnx_node.input[0] = "padded"
    pad = instance(
        "FMPadding_rtl", "pad", "padded", "x", ImgDim=[4, 4], NumChannels=8, SIMD=2, Padding=[*padding, 0, 0],
        inputDataType="INT4",
    )  # fmt: skip
    assert early_layers({"pad": pad, **nodes}) == ({"pad", "window"} if early else {"pad"})
