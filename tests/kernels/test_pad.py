"""The Pad kernel against ONNX Runtime's Pad."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import check_kernel, infer, instance, make_model, run_onnx
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.transforms.infer_pad import InferPad

EXACT = {"rtol": 0, "atol": 0}


def pad_model(shape, pads, value=None, axes=None, datatype="INT4", given=None, mode="constant"):
    stated = {"pads": np.asarray(pads, np.int64)}
    if value is not None:
        stated["value"] = np.float32(value)
    if axes is not None:
        stated["axes"] = np.asarray(axes, np.int64)
    inputs = [name if name in stated else "" for name in ("pads", "value", "axes")]
    while not inputs[-1]:
        inputs.pop()
    node = helper.make_node("Pad", ["x", *inputs], ["y"], name="border", mode=mode)
    return make_model(
        [node], {"x": shape}, ["y"], stated, opset=18, datatypes={"x": datatype, "y": given or datatype}
    )


def values(shape, low=-8, high=8):
    return np.random.default_rng(0).integers(low, high, shape).astype(np.float32)


@st.composite
def borders(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    return shape, [draw(st.integers(0, 3)) for _ in range(2 * len(shape))]


@settings(max_examples=40, deadline=None)
@given(drawn=borders(), value=st.integers(-8, 7))
def test_the_kernel_takes_the_place_of_a_pad(drawn, value):
    model = pad_model(*drawn, value)
    feeds = {"x": values(drawn[0])}
    after, modified = infer(InferPad(), model)
    assert modified
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)
    kernel = instance(after, "PadKernel")
    kernel.set_nodeattr("SIMD", kernel.lanes_limit())
    assert np.prod(kernel.get_folded_input_shape()) == np.prod(drawn[0])
    assert np.prod(kernel.get_folded_output_shape()) == np.prod(model.get_tensor_shape("y"))
    assert kernel.get_exp_cycles() == np.prod(kernel.get_folded_output_shape()[:-1])


@pytest.mark.parametrize(
    ("given", "value", "wanted"),
    [("INT4", -9, "INT5"), ("UINT4", -1, "INT5"), ("UINT4", 15, "UINT4"), ("UINT2", 40, "UINT6"), ("BIPOLAR", 0, "INT2")],
)  # fmt: skip
def test_the_output_holds_the_padding(given, value, wanted):
    after, _ = infer(InferPad(), pad_model((1, 3, 4), [0, 1, 0, 0, 2, 0], value, None, given, wanted))
    kernel = instance(after, "PadKernel")
    assert (kernel.get_output_datatype().name, after.get_tensor_datatype("y")) == (wanted, DataType[wanted])
    assert kernel.get_outstream_width() == DataType[wanted].bitwidth()


def test_some_axes_and_no_value():
    model = pad_model((1, 3, 4, 2), [1, 2, 3, 4], None, [1, -2])
    feeds = {"x": values((1, 3, 4, 2))}
    after, _ = infer(InferPad(), model)
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)
    kernel = instance(after, "PadKernel")
    assert (kernel.get_nodeattr("before"), kernel.get_nodeattr("after")) == ([0, 1, 2, 0], [0, 3, 4, 0])


def test_reshapes_around_become_part_of_it():
    shapes = {"apart": (1, 3, 1, 4, 1, 2), "together": (1, 6, 12, 2)}
    constants = {name: np.asarray(shape, np.int64) for name, shape in shapes.items()}
    constants["pads"] = np.asarray([0] * 6 + [0, 0, 1, 0, 2, 0], np.int64)
    nodes = [
        helper.make_node("Reshape", ["x", "apart"], ["a"]),
        helper.make_node("Pad", ["a", "pads"], ["b"], name="border"),
        helper.make_node("Reshape", ["b", "together"], ["y"]),
    ]
    kinds = dict.fromkeys(("x", "a", "b", "y"), "INT4")
    model = make_model(nodes, {"x": (1, 3, 4, 2)}, ["y"], constants, datatypes=kinds)
    feeds = {"x": values((1, 3, 4, 2))}
    after, _ = infer(InferPad(), model)
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)
    assert [node.op_type for node in after.graph.node] == ["PadKernel"]
    spread = run_onnx(model, feeds)["y"]
    np.testing.assert_array_equal(spread[:, ::2, ::3], feeds["x"])
    assert not spread[:, 1::2].any() and not spread[:, :, 1::3].any()


@pytest.mark.parametrize(
    "model",
    [
        pad_model((1, 3, 4), [0, 1, 0, 0, 1, 0], mode="reflect"),
        pad_model((1, 3, 4), [0, 1, 0, 0, 1, 0], 0.5),
        pad_model((1, 3, 4), [0, -1, 0, 0, 1, 0]),
        pad_model((1, 3, 4), [0, 1, 0, 0, 1, 0], datatype="FLOAT32"),
    ],
    ids=["mirrored", "a fraction", "cut off", "floats"],
)
def test_what_is_left_alone(model):
    assert infer(InferPad(), model)[1] is False
