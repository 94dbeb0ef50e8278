"""The LayerNorm kernel against ONNX Runtime's LayerNormalization."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import check_kernel, infer, instance, make_model, run_in_fresh_process, run_onnx
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType

from brainsmith.transforms.expand_norms import ExpandNorms
from brainsmith.transforms.infer_layer_norm import InferLayerNorm

# ONNX Runtime sums the row in single precision; a normalised value is at most sqrt(size of the row).
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(1.0, 2.0, size=shape).astype(np.float32)


def rounding(x, scale, axes=(-1,), epsilon=1e-5):
    """Bound what single precision may change in a layer norm of `x`, scaled by at most `scale`.

    The row's mean is off by a rounding of its largest element, and its variance by one of that one's square; both are
    seen through the inverse deviation, which is large where a row's elements are nearly equal.
    """
    x = x.astype(np.float64)
    centred = x - x.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)
    seen = np.abs(x).max(axes, keepdims=True) * inverse
    normal = np.abs(centred * inverse).max(axes, keepdims=True)
    worst = (seen + normal * seen**2).max()
    return {"rtol": 1e-5, "atol": 1e-6 + 4 * np.finfo(np.float32).eps * worst * np.abs(scale).max()}


def model_of(shape, scale=None, bias=None, outputs=("y",), datatype="FLOAT32", **attrs):
    size = shape[-1]
    constants = {"s": numbers(size, 1) if scale is None else np.full(size, scale, np.float32)}
    if bias is not False:
        constants["b"] = numbers(size, 2) if bias is None else np.full(size, bias, np.float32)
    node = helper.make_node("LayerNormalization", ["x", *constants], list(outputs), name="norm", **attrs)
    return make_model([node], {"x": shape}, outputs, constants, datatypes={"x": datatype})


def ops(model):
    return [node.op_type for node in model.graph.node]


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    affine=st.tuples(st.sampled_from([None, 1.0]), st.sampled_from([None, 0.0, False])),
    epsilon=st.sampled_from([1e-5, 1e-2]),
    expanded=st.booleans(),
)
def test_numbers_of_any_shape(shape, affine, epsilon, expanded):
    model = model_of(shape, *affine, axis=-1, epsilon=epsilon)
    feeds = {"x": numbers(shape)}
    expected = run_onnx(model, feeds)
    after, modified = infer(InferLayerNorm(), model.transform(ExpandNorms()) if expanded else model)
    tail = ["Mul"] * (affine[0] is None) + ["Add"] * (affine[1] is None)
    if expanded:
        tail = ["Mul"] + ["Add"] * (affine[1] is not False)
    assert (modified, ops(after)) == (True, ["LayerNormKernel", *tail])
    scale = model.get_initializer("s")
    check_kernel(after, feeds, expected, **rounding(feeds["x"], scale, epsilon=epsilon))


def test_integers_in_integers_out():
    model = model_of((1, 7, 16), scale=1.0, bias=0.0, datatype="INT4")
    feeds = {"x": np.random.default_rng(0).integers(-8, 8, (1, 7, 16)).astype(np.float32)}
    after, _ = infer(InferLayerNorm(), model)
    assert ops(after) == ["LayerNormKernel", "Mul"]
    check_kernel(after, feeds, run_onnx(model, feeds), rtol=0, atol=0.76 * 2.0**-8)
    kernel = instance(after, "LayerNormKernel")
    assert (kernel.get_input_datatype(), kernel.get_output_datatype()) == (
        DataType["INT4"],
        DataType["INT12"],
    )
    assert (kernel.get_instream_width(), kernel.get_outstream_width()) == (4, 12)
    assert (kernel.arithmetic().root_bits, kernel.get_exp_cycles()) == (17, 7 * (17 + 4))


def test_streams_and_cycles():
    after, _ = infer(InferLayerNorm(), model_of((1, 7, 16)))
    kernel = instance(after, "LayerNormKernel")
    assert kernel.get_exp_cycles() == 7 * 16 + 2 * 16 + 36
    kernel.set_nodeattr("SIMD", 4)
    assert kernel.get_folded_input_shape() == (1, 7, 4, 4)
    assert kernel.get_number_output_values() == 7 * 4
    assert kernel.get_exp_cycles() == 7 * 4 + 2 * 4 + 4 * 2 + 36
    assert kernel.get_outstream_width() == 128


@pytest.mark.parametrize(
    "attrs", [{"axis": 1}, {"axis": -2}, {"stash_type": TensorProto.DOUBLE}], ids=lambda attrs: str(attrs)
)
def test_what_the_kernel_does_not_serve_stays(attrs):
    constants = {"s": np.float32(1)}
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y"], **attrs)
    assert infer(InferLayerNorm(), make_model([node], {"x": (2, 3, 4)}, ["y"], constants))[1] is False


def test_an_unknown_batch_stays():
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y"])
    model = make_model([node], {"x": ("n", 4)}, ["y"], {"s": np.ones(4, np.float32)})
    assert InferLayerNorm().apply(model)[1] is False


def test_a_mean_that_is_read_is_kept_by_expanding_first():
    model = model_of((2, 8), outputs=("y", "m"))
    feeds = {"x": numbers((2, 8))}
    expected = run_onnx(model, feeds)
    assert infer(InferLayerNorm(), model)[1] is False
    after, _ = infer(InferLayerNorm(), model.transform(ExpandNorms()))
    assert ops(after) == ["ReduceMean", "LayerNormKernel", "Mul", "Add"]
    check_kernel(after, feeds, expected, **TOLERANCE)


def test_an_unread_mean_is_forgotten():
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y", "m"])
    model = make_model([node], {"x": (2, 8)}, ["y"], {"s": numbers(8)})
    after, _ = infer(InferLayerNorm(), model)
    assert sorted(value.name for value in after.graph.value_info) == ["s", "y_normal"]


def test_an_rms_norm_stays():
    node = helper.make_node("RMSNormalization", ["x", "s"], ["y"])
    model = make_model([node], {"x": (2, 8)}, ["y"], {"s": numbers(8)}, opset=23)
    assert infer(InferLayerNorm(), model.transform(ExpandNorms()))[1] is False


@pytest.mark.slow
def test_a_saved_model_runs_in_a_fresh_process(tmp_path):
    model = model_of((2, 8))
    feeds = {"x": numbers((2, 8))}
    after, _ = infer(InferLayerNorm(), model)
    found = run_in_fresh_process(after, feeds, tmp_path)
    np.testing.assert_allclose(found["y"], run_onnx(model, feeds)["y"], **TOLERANCE)
