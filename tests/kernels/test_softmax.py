"""The Softmax kernel against ONNX Runtime's Softmax."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import check_kernel, infer, instance, make_model, run_in_fresh_process, run_onnx
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.transforms.infer_softmax import InferSoftmax

# A probability is at most 1; ONNX Runtime's vectorised exponential is good to a few units in the last place.
TOLERANCE = {"rtol": 2e-6, "atol": 1e-7}


def model_of(shape, opset=17, datatype="FLOAT32", **attrs):
    node = helper.make_node("Softmax", ["x"], ["y"], name="soft", **attrs)
    return make_model([node], {"x": shape}, opset=opset, datatypes={"x": datatype})


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    spread=st.sampled_from([0.1, 3.0, 200.0]),
    stated=st.sampled_from(["default", "last", "from the front"]),
)
def test_numbers_of_any_shape(shape, spread, stated):
    attrs = {"default": {}, "last": {"axis": -1}, "from the front": {"axis": len(shape) - 1}}[stated]
    model = model_of(shape, **attrs)
    feeds = {"x": (np.random.default_rng(1).normal(size=shape) * spread).astype(np.float32)}
    after, modified = infer(InferSoftmax(), model)
    assert (modified, [node.op_type for node in after.graph.node]) == (True, ["SoftmaxKernel"])
    check_kernel(after, feeds, run_onnx(model, feeds), **TOLERANCE)


def test_integers_in_integers_out():
    model = model_of((1, 4, 16), datatype="INT8")
    feeds = {"x": np.random.default_rng(0).integers(-128, 128, (1, 4, 16)).astype(np.float32)}
    after, _ = infer(InferSoftmax(), model)
    assert [node.op_type for node in after.graph.node] == ["SoftmaxKernel", "Mul"]
    check_kernel(after, feeds, run_onnx(model, feeds), rtol=0, atol=2.0**-8)
    kernel = instance(after, "SoftmaxKernel")
    assert (kernel.get_input_datatype(), kernel.get_output_datatype()) == (
        DataType["INT8"],
        DataType["UINT8"],
    )
    assert (kernel.get_instream_width(), kernel.get_outstream_width()) == (8, 8)
    assert kernel.get_exp_cycles() == 4 * max(16, 8 + 3 + 2)


def test_streams_and_cycles():
    after, _ = infer(InferSoftmax(), model_of((1, 4, 16)))
    kernel = instance(after, "SoftmaxKernel")
    assert kernel.get_exp_cycles() == 64 + 2 * 4 + 2 * 16 + 30
    kernel.set_nodeattr("SIMD", 8)
    assert kernel.get_exp_cycles() == 8 + 2 * 4 + 2 * 2 + 30
    assert kernel.get_folded_output_shape() == (1, 4, 2, 8)
    assert kernel.get_number_output_values() == 8


@pytest.mark.parametrize(
    ("shape", "opset", "datatype", "attrs"),
    [
        ((2, 3, 4), 17, "FLOAT32", {"axis": 1}),
        ((2, 3, 4), 11, "FLOAT32", {}),
        ((2, 4), 17, "BIPOLAR", {}),
    ],
)
def test_what_the_kernel_does_not_serve_stays(shape, opset, datatype, attrs):
    assert infer(InferSoftmax(), model_of(shape, opset, datatype, **attrs))[1] is False


def test_before_opset_13_two_dimensions_are_the_last_axis():
    model = model_of((3, 5), opset=11)
    feeds = {"x": np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)}
    after, modified = infer(InferSoftmax(), model)
    assert modified
    check_kernel(after, feeds, run_onnx(model, feeds), **TOLERANCE)


@pytest.mark.slow
def test_a_saved_model_runs_in_a_fresh_process(tmp_path):
    model = model_of((2, 8))
    feeds = {"x": np.random.default_rng(1).normal(size=(2, 8)).astype(np.float32)}
    after, _ = infer(InferSoftmax(), model)
    found = run_in_fresh_process(after, feeds, tmp_path)
    np.testing.assert_allclose(found["y"], run_onnx(model, feeds)["y"], **TOLERANCE)
