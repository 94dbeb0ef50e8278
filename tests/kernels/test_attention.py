"""One attention head through the project's steps: its kernels stay its own, and come out as backends with figures."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from kernel_graphs import make_model
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm

PART = "xczu7ev-ffvc1156-2-e"
TOKENS, WIDTH = 8, 16


def attention():
    """Make softmax(q k) v with 4-bit operands, followed by a layer normalisation."""
    shapes = {
        "q": (1, 2, TOKENS, WIDTH), "k": (1, 2, WIDTH, TOKENS), "v": (1, 2, TOKENS, WIDTH),
        "scores": (1, 2, TOKENS, TOKENS), "p": (1, 2, TOKENS, TOKENS), "quantised": (1, 2, TOKENS, TOKENS),
        "mixed": (1, 2, TOKENS, WIDTH), "y": (1, 2, TOKENS, WIDTH),
    }  # fmt: skip
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in shapes.items()}
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["scores"], name="scores"),
        helper.make_node("Softmax", ["scores"], ["p"], name="softmax"),
        helper.make_node(
            "MultiThreshold", ["p", "levels"], ["quantised"], name="quantise",
            domain="qonnx.custom_op.general", out_dtype="UINT4",
        ),
        helper.make_node("MatMul", ["quantised", "v"], ["mixed"], name="mix"),
        helper.make_node("LayerNormalization", ["mixed", "scale"], ["y"], name="norm"),
    ]  # fmt: skip
    inner = [values[name] for name in ("scores", "p", "quantised", "mixed")]
    graph = helper.make_graph(
        nodes, "attention", [values[name] for name in "qkv"], [values["y"]], value_info=inner
    )
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    model.set_initializer("scale", np.ones(WIDTH, np.float32))
    model.set_initializer("levels", ((np.arange(15) + 0.5) / 16).astype(np.float32).reshape(1, 15))
    for name, datatype in {"q": "INT4", "k": "INT4", "v": "INT4", "quantised": "UINT4"}.items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model


def config(folder, language):
    return SimpleNamespace(
        synth_clk_period_ns=5.0, fpga_part=PART, _resolve_fpga_part=lambda: PART, target_fps=400_000,
        output_dir=str(folder), kernel_preferences=dict.fromkeys(("MatMul", "Softmax", "LayerNorm"), (language,)),
    )  # fmt: skip


@pytest.mark.parametrize("language", [pytest.param("hls", marks=pytest.mark.slow), "rtl"])
@pytest.mark.filterwarnings("ignore:Assuming 4D input is NCHW:UserWarning")
@pytest.mark.slow
def test_attention_becomes_backends_that_compute_the_same(tmp_path, language):
    model, cfg = attention(), config(tmp_path, language)
    rng = np.random.default_rng(0)
    feeds = {name: rng.integers(-2, 3, model.get_tensor_shape(name)).astype(np.float32) for name in "qkv"}
    expected = execute_onnx(model, feeds)["y"]
    kernels = ["MatMulKernel", "SoftmaxKernel", "Thresholding", "MatMulKernel", "LayerNormKernel", "Mul"]
    own = [f"{kernel}{language.upper()}" for kernel in ("MatMul", "Softmax", "LayerNorm")]
    backends = [own[0], own[1], "Thresholding_rtl", own[0], own[2], "Mul"]
    after = {
        "hardware_inference": kernels, "specialize": backends, "fold": backends, "estimate": backends,
    }  # fmt: skip
    first = None
    for name, op_types in after.items():
        model = getattr(steps, name)(model, cfg)
        assert [node.op_type for node in model.graph.node] == op_types
        inputs = dict(zip([value.name for value in model.graph.input], feeds.values(), strict=True))
        (found,) = execute_onnx(model, inputs).values()
        first = found if first is None else first
        np.testing.assert_array_equal(found, first)
    # A probability within 2^-8 of a level may lie on its other side, which is a 16th of it.
    np.testing.assert_allclose(first, expected, atol=0.25)
    assert np.abs(first - expected).mean() < 0.02
    estimates = json.loads((tmp_path / "report" / "estimates.json").read_text(encoding="utf-8"))
    assert estimates["interval_cycles"] <= 200_000_000 / 400_000
    for layer in estimates["layers"]:
        assert layer["cycles"] > 0
        assert layer["lut"] > 0
        assert layer["dsp"] > 0 or not layer["op_type"].startswith(("Softmax", "LayerNorm"))


def test_own_nodes_are_not_taken_for_onnx_operators():
    model = attention()
    for name in ("InferMatMul", "InferSoftmax", "InferLayerNorm"):
        model = model.transform(getattr(tfm, name)())
    before = [node.op_type for node in model.graph.node]
    for name in ("InferQuantizedMatrixVectorActivation", "InferVectorVectorActivation", "InferHWSoftmax"):
        model = model.transform(getattr(tfm.finn, name)())
    assert [node.op_type for node in model.graph.node] == before


def test_a_float_product_is_left_to_others():
    model = make_model([helper.make_node("MatMul", ["a", "b"], ["y"])], {"a": (2, 3), "b": (3, 2)})
    assert tfm.InferMatMul().apply(model)[1] is False
