"""LayerNorm and Softmax behind quantised tensors become kernels of integers, and nothing is left between hardware."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import infer, instance, make_model
from onnx import helper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.transforms.expand_norms import ExpandNorms
from brainsmith.transforms.infer_layer_norm import InferLayerNorm
from brainsmith.transforms.infer_softmax import InferSoftmax

SIZE = 16


def quantised(nodes, constants, shape=(1, 6, SIZE), kind="INT6", step=0.25):
    """Make integers -> nodes -> the tensor `t` -> levels of a step of their own."""
    levels = ((np.arange(15) - 7) * step).astype(np.float32).reshape(1, 15)
    threshold = helper.make_node(
        "MultiThreshold", ["t", "levels"], ["y"], name="quantise", domain="qonnx.custom_op.general",
        out_dtype="INT4", out_bias=-8.0,
    )  # fmt: skip
    model = make_model(nodes, {"x": shape}, ["t"], constants, datatypes={"x": kind})
    model.graph.node.append(threshold)
    model.graph.value_info.extend(model.graph.output)
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("y", 1, shape))
    model.set_initializer("levels", levels)
    return model


def integers(shape=(1, 6, SIZE), seed=0):
    return {"x": np.random.default_rng(seed).integers(-32, 32, shape).astype(np.float32)}


def ops(model):
    return [node.op_type for node in model.graph.node]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    scale=st.sampled_from([0.05, 0.5, 3.0]),
    expanded=st.booleans(),
    shifted=st.booleans(),
)
def test_a_layer_norm_is_a_kernel_and_thresholds(seed, scale, expanded, shifted):
    rng = np.random.default_rng(seed)
    constants = {
        "scale": np.float32(scale), "shift": np.float32(1.5),
        "gamma": rng.uniform(0.3, 2.0, SIZE).astype(np.float32), "beta": rng.normal(size=SIZE).astype(np.float32),
    }  # fmt: skip
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "shift"], ["real"]),
        helper.make_node(
            "LayerNormalization", ["real" if shifted else "scaled", "gamma", "beta"], ["t"], name="norm"
        ),
    ]
    if not shifted:
        del nodes[1], constants["shift"]
    model = quantised(nodes, constants)
    feeds = integers(seed=seed)
    expected = execute_onnx(model, feeds)["y"]
    after, _ = infer(InferLayerNorm(), model.transform(ExpandNorms()) if expanded else model)
    assert ops(after) == ["LayerNormKernel", "MultiThreshold"]
    kernel = instance(after, "LayerNormKernel")
    assert kernel.get_nodeattr("epsilon") == pytest.approx(1e-5 / scale**2, rel=1e-5)
    found = execute_onnx(after, feeds)["y"]
    # An element within the error of a level may come to lie on its other side: 0.003 of 0.25 at gamma 1.
    assert np.abs(found - expected).max() <= 1
    assert (found != expected).mean() < 0.1


@pytest.mark.slow
def test_a_softmax_is_a_kernel_and_thresholds():
    constants = {"scale": np.float32(0.125), "shift": np.float32(2.0)}
    nodes = [
        helper.make_node("Add", ["shift", "x"], ["shifted"]),
        helper.make_node("Div", ["shifted", "eight"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["t"], name="soft"),
    ]
    constants = {"shift": np.float32(2.0), "eight": np.float32(8.0)}
    model = quantised(nodes, constants, step=1 / 16)
    feeds = integers()
    expected = execute_onnx(model, feeds)["y"]
    after, _ = infer(InferSoftmax(), model)
    assert ops(after) == ["SoftmaxKernel", "MultiThreshold"]
    kernel = instance(after, "SoftmaxKernel")
    assert (kernel.get_nodeattr("scale"), kernel.get_nodeattr("fraction_bits")) == (0.125, 8)
    found = execute_onnx(after, feeds)["y"]
    assert np.abs(found - expected).max() <= 1
    assert (found != expected).mean() < 0.1


@pytest.mark.slow
def test_more_fraction_bits_come_nearer():
    constants = {"scale": np.float32(0.5), "gamma": np.ones(SIZE, np.float32)}
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        helper.make_node("LayerNormalization", ["scaled", "gamma"], ["y"], name="norm"),
    ]
    model = make_model(nodes, {"x": (1, 6, SIZE)}, ["y"], constants, datatypes={"x": "INT6"})
    feeds = integers()
    expected = execute_onnx(model, feeds)["y"]
    for bits in (4, 8, 12):
        after, _ = infer(InferLayerNorm(fraction_bits=bits), model)
        assert ops(after) == ["LayerNormKernel", "Mul"]
        assert np.abs(execute_onnx(after, feeds)["y"] - expected).max() <= 0.76 * 2.0**-bits


def test_others_that_read_the_real_numbers_keep_them():
    constants = {"scale": np.float32(0.5), "gamma": np.ones(SIZE, np.float32)}
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        helper.make_node("LayerNormalization", ["scaled", "gamma"], ["normal"], name="norm"),
        helper.make_node("Add", ["normal", "scaled"], ["y"], name="residual"),
    ]
    model = make_model(nodes, {"x": (1, 6, SIZE)}, ["y"], constants, datatypes={"x": "INT6"})
    after, _ = infer(InferLayerNorm(), model)
    assert ops(after) == ["Mul", "LayerNormKernel", "Mul", "Add"]
    feeds = integers()
    np.testing.assert_allclose(execute_onnx(after, feeds)["y"], execute_onnx(model, feeds)["y"], atol=0.01)


@pytest.mark.parametrize("norm", [False, True])
def test_a_factor_that_adds_dimensions_stays(norm):
    behind = (
        helper.make_node("LayerNormalization", ["scaled", "gamma"], ["y"], name="norm")
        if norm
        else helper.make_node("Softmax", ["scaled"], ["y"], name="soft")
    )
    constants = {"scale": np.full((1, 1, 1, 1), 0.25, np.float32), "gamma": np.ones(SIZE, np.float32)}
    nodes = [helper.make_node("Mul", ["x", "scale"], ["scaled"]), behind]
    if not norm:
        del constants["gamma"]
    model = make_model(nodes, {"x": (2, SIZE)}, ["y"], constants, datatypes={"x": "INT6"})
    feeds = integers((2, SIZE))
    expected = execute_onnx(model, feeds)["y"]
    after, _ = infer(InferLayerNorm() if norm else InferSoftmax(), model)
    found = execute_onnx(after, feeds)["y"]
    assert ops(after)[0] == "Mul"
    assert found.shape == expected.shape == (1, 1, 2, SIZE)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "scale"), [("INT24", 1e-5), ("FLOAT32", 1.0), ("INT8", -1.0)])
def test_what_integers_cannot_compute_stays_real(kind, scale):
    nodes = [
        helper.make_node("Mul", ["x", "scale"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["y"], name="soft"),
    ]
    model = make_model(nodes, {"x": (2, SIZE)}, ["y"], {"scale": np.float32(scale)}, datatypes={"x": kind})
    after, _ = infer(InferSoftmax(), model)
    assert ops(after) == ["Mul", "SoftmaxKernel"]
    assert instance(after, "SoftmaxKernel").get_output_datatype().name == "FLOAT32"
