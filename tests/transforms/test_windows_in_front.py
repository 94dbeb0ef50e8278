"""PadWindows and CropBetweenWindows: sliding windows compute the same behind what is put in front of them."""

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.crop_rtl import CropRTL
from brainsmith.backends.rtl.pad_rtl import PadRTL
from brainsmith.transforms.crop_between_windows import CropBetweenWindows
from brainsmith.transforms.pad_windows import PadWindows

GENERAL = "qonnx.custom_op.general"


def results(image, kernel, strides, pads, dilations=(1, 1)):
    return [
        (size + pads[at] + pads[at + 2] - (kernel[at] - 1) * dilations[at] - 1) // strides[at] + 1
        for at, size in enumerate(image)
    ]


def window_model(image, kernel, strides, pads, value=0, kind="INT4", dilations=(1, 1), depthwise=0):
    """Return a model of one Im2Col of three channels."""
    out = results(image, kernel, strides, pads, dilations)
    node = helper.make_node(
        "Im2Col", ["x"], ["y"], name="window", domain=GENERAL, stride=strides, kernel_size=kernel, pad_amount=pads,
        pad_value=value, dilations=dilations, depthwise=depthwise, input_shape=f"(1,{image[0]},{image[1]},3)",
    )  # fmt: skip
    return one_node(node, (1, *image, 3), (1, *out, kernel[0] * kernel[1] * 3), kind)


def pool_model(image, kernel, strides, pads, kind="INT4"):
    """Return a model of one MaxPoolNHWC of three channels."""
    out = results(image, kernel, strides, pads)
    node = helper.make_node(
        "MaxPoolNHWC",
        ["x"],
        ["y"],
        name="pool",
        domain=GENERAL,
        kernel_shape=kernel,
        strides=strides,
        pads=pads,
    )
    return one_node(node, (1, *image, 3), (1, *out, 3), kind)


def one_node(node, shape, result, kind):
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, each)
        for name, each in (("x", shape), ("y", result))
    ]
    graph = helper.make_graph([node], "one", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(GENERAL, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets))
    for name in ("x", "y"):
        model.set_tensor_datatype(name, DataType[kind])
    return model


def assert_same(model, transform):
    """Assert that a transform leaves what a model computes, twice is once, and kernels that it adds have circuits."""
    shape = model.get_tensor_shape("x")
    kind = model.get_tensor_datatype("x")
    x = np.random.default_rng(0).integers(kind.min(), kind.max() + 1, shape).astype(np.float32)
    before = execute_onnx(model, {"x": x})["y"]
    after, modified = transform.apply(ModelWrapper(model.model, make_deepcopy=True))
    np.testing.assert_array_equal(execute_onnx(after, {"x": x})["y"], before)
    assert transform.apply(after)[1] is False
    assert after.get_tensor_shape("y") == model.get_tensor_shape("y")
    for node in after.graph.node:
        backend = {"PadKernel": PadRTL, "CropKernel": CropRTL}.get(node.op_type)
        support = backend is None or backend.supports(getCustomOp(node))
        assert support or "7 nested loops" in support.reason
        assert all(after.get_tensor_shape(name) for name in node.output)
    return after, modified


@st.composite
def windows(draw):
    image = [draw(st.integers(1, 9)) for _ in range(2)]
    # QONNX's Im2Col takes no padding along an axis of one pixel.
    kernel = [draw(st.integers(1, min(3, 3 * size - 2))) for size in image]
    pads = [draw(st.integers(0, taps - 1)) for taps in (*kernel, *kernel)]
    assume(all(size + pads[at] + pads[at + 2] >= kernel[at] for at, size in enumerate(image)))
    return image, kernel, [draw(st.integers(1, 5)) for _ in range(2)], pads


@st.composite
def dilated_windows(draw):
    kernel, by = ([draw(st.integers(1, 3)) for _ in range(2)] for _ in range(2))
    spans = [(taps - 1) * each + 1 for taps, each in zip(kernel, by, strict=True)]
    pads = [draw(st.integers(0, span - 1)) for span in (*spans, *spans)]
    image = [draw(st.integers(max(2, span), span + 8)) for span in spans]
    return (
        image,
        kernel,
        [draw(st.integers(1, 7)) for _ in range(2)],
        pads,
        draw(st.integers(-8, 7)),
        "INT4",
        by,
    )


@settings(max_examples=40, deadline=None)
@given(drawn=dilated_windows())
def test_windows_whose_taps_do_not_touch(drawn):
    after, _ = assert_same(window_model(*drawn), CropBetweenWindows())
    for node in after.get_nodes_by_op_type("Im2Col"):
        taps, strides, by = (
            getCustomOp(node).get_nodeattr(name) for name in ("kernel_size", "stride", "dilations")
        )
        for at in range(2):
            assert strides[at] <= taps[at] or (taps[at] > 1 and strides[at] % by[at])


@settings(max_examples=40, deadline=None)
@given(drawn=windows(), value=st.integers(-8, 7), depthwise=st.integers(0, 1))
def test_windows_that_do_not_touch(drawn, value, depthwise):
    model = window_model(*drawn, value, depthwise=depthwise)
    _, kernel, strides, _ = drawn
    after, modified = assert_same(model, CropBetweenWindows())
    assert modified == any(step > taps for step, taps in zip(strides, kernel, strict=True))
    left = {node.op_type: node for node in after.graph.node}
    if modified and kernel == [1, 1]:
        assert "Im2Col" not in left
    elif modified:
        assert [min(pair) for pair in zip(kernel, strides, strict=True)] == getCustomOp(
            left["Im2Col"]
        ).get_nodeattr("stride")


@settings(max_examples=30, deadline=None)
@given(drawn=windows())
def test_pools_that_do_not_touch(drawn):
    image, kernel, strides, pads = drawn
    assume(all(size + 2 * pads[at] >= kernel[at] for at, size in enumerate(image)))
    assert_same(pool_model(image, kernel, strides, [*pads[:2], *pads[:2]]), CropBetweenWindows())


@settings(max_examples=30, deadline=None)
@given(drawn=windows(), value=st.integers(-8, 7))
def test_padding_that_is_not_0(drawn, value):
    image, kernel, _, pads = drawn
    pair = kernel == [size + pads[at] + pads[at + 2] for at, size in enumerate(image)] and prod(kernel) == 2
    _, modified = assert_same(window_model(*drawn, value), PadWindows())
    assert modified == (pair or (value != 0 and any(pads)))


@pytest.mark.parametrize(
    ("image", "kernel", "pads", "depthwise"),
    [
        ([2, 1], [2, 1], [0] * 4, 0),
        ([1, 2], [1, 2], [0] * 4, 1),
    ],
)
def test_an_image_of_two_pixels_gets_a_third(image, kernel, pads, depthwise):
    model = window_model(image, kernel, [1, 1], pads, kind="BIPOLAR", depthwise=depthwise)
    after, modified = assert_same(model, PadWindows())
    assert modified
    pad, window = after.graph.node
    assert getCustomOp(pad).get_nodeattr("value") == -1
    assert getCustomOp(window).get_nodeattr("stride") == image


@pytest.mark.parametrize(
    ("model", "transform"),
    [
        (window_model([8, 8], [2, 2], [5, 3], [0] * 4, dilations=[2, 2]), CropBetweenWindows()),
        (window_model([8, 8], [1, 1], [2, 2], [0] * 4, kind="FLOAT32"), CropBetweenWindows()),
        (window_model([8, 8], [3, 3], [1, 1], [1] * 4, -8, kind="FLOAT32"), PadWindows()),
    ],
    ids=["steps that miss the taps", "floats that are cropped", "floats that are padded"],
)
def test_what_is_left_alone(model, transform):
    assert transform.apply(model)[1] is False


def test_one_pixel_of_each_step_needs_no_window():
    after, _ = assert_same(window_model([8, 6], [1, 1], [2, 3], [0] * 4), CropBetweenWindows())
    (crop,) = after.graph.node
    layer = getCustomOp(crop)
    assert (crop.op_type, crop.output[0]) == ("CropKernel", "y")
    assert (layer.get_nodeattr("within_shape"), layer.get_nodeattr("sizes")) == (
        [1, 4, 2, 2, 3, 3],
        [1, 4, 1, 2, 1, 3],
    )


def test_a_window_that_is_cropped_to_two_pixels_is_padded_twice():
    cropped, modified = assert_same(window_model([2, 1], [2, 1], [3, 1], [1, 0, 0, 0]), CropBetweenWindows())
    assert modified
    after, modified = assert_same(cropped, PadWindows())
    assert modified
    names = [node.name for node in after.graph.node]
    assert names == ["window_pad", "window_crop", "window_pad_again", "window"]
