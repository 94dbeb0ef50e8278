"""Attention without its softmax as one circuit: heads split, scores, levels, values mixed, heads merged."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.general import GiveReadableTensorNames, GiveUniqueNodeNames
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.plugins import transforms as tfm
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.verification.design_verification import verify_design

PART = "xczu7ev-ffvc1156-2-e"
TOKENS, HEADS, EACH = 8, 2, 16
WIDTH = HEADS * EACH
FRAMES = 12


def attention():
    """Make merge(levels(split(q) split(k)ᵀ) split(v)) of 4-bit integers."""
    rows, split = (TOKENS, WIDTH), (TOKENS, HEADS, EACH)
    square, head = (HEADS, TOKENS, TOKENS), (HEADS, TOKENS, EACH)
    shapes = {"q": rows, "k": rows, "v": rows, "y": rows, "scores": square, "levels": square, "mixed": head}
    shapes |= {f"{name}_split": split for name in "qkv"} | {"q_heads": head, "v_heads": head}
    shapes |= {"k_heads": (HEADS, EACH, TOKENS), "merged": split}
    perms = {"q": (1, 0, 2), "k": (1, 2, 0), "v": (1, 0, 2)}
    nodes = []
    for name, perm in perms.items():
        nodes.append(helper.make_node("Reshape", [name, "split"], [f"{name}_split"]))
        nodes.append(helper.make_node("Transpose", [f"{name}_split"], [f"{name}_heads"], perm=perm))
    nodes += [
        helper.make_node("MatMul", ["q_heads", "k_heads"], ["scores"]),
        helper.make_node(
            "MultiThreshold",
            ["scores", "steps"],
            ["levels"],
            domain="qonnx.custom_op.general",
            out_dtype="UINT4",
        ),
        helper.make_node("MatMul", ["levels", "v_heads"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["merged"], perm=(1, 0, 2)),
        helper.make_node("Reshape", ["merged", "rows"], ["y"]),
    ]
    values = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
    }
    ends = [values.pop(name) for name in "qkvy"]
    graph = helper.make_graph(nodes, "attention", ends[:3], ends[3:], value_info=values.values())
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    model.set_initializer("split", np.asarray(split, np.int64))
    model.set_initializer("rows", np.asarray(rows, np.int64))
    model.set_initializer("steps", np.linspace(-140, 140, 15).round().astype(np.float32).reshape(1, 15))
    for name in [*shapes, "steps"]:
        model.set_tensor_datatype(name, DataType["UINT4" if name == "levels" else "INT4"])
    for name in ("scores", "steps"):
        model.set_tensor_datatype(name, DataType["INT12"])
    return model


def circuit(model, foldings):
    """Return the model as backends, each folded as it is told by its kernel and place."""
    for transform in (tfm.InferShuffle(ends=True), tfm.InferMatMul(), tfm.finn.InferThresholdingLayer()):
        model = model.transform(transform)
    for transform in (tfm.SpecializeKernels(PART, {"*": ("rtl",)}), GiveUniqueNodeNames(), InferShapes()):
        model = model.transform(transform)
    model = model.transform(InferDataTypes()).transform(GiveReadableTensorNames())
    kinds = [node.op_type for node in model.graph.node]
    assert kinds == [*["ShuffleRTL"] * 3, "MatMulRTL", "Thresholding_rtl", "MatMulRTL", "ShuffleRTL"]
    for node, folding in zip(model.graph.node, foldings, strict=True):
        for name, value in folding.items():
            getCustomOp(node).set_nodeattr(name, value)
        if node.op_type == "Thresholding_rtl":
            getCustomOp(node).set_nodeattr("exec_mode", "cppsim")
    return model


def golden_tensors(model):
    """Return (frames, *shape) by tensor: random inputs, and what the layers compute of them in Python."""
    rng, found = np.random.default_rng(0), []
    for _ in range(FRAMES):
        feeds = {
            value.name: rng.integers(-8, 8, (TOKENS, WIDTH)).astype(np.float32) for value in model.graph.input
        }
        found.append(execute_onnx(model, feeds, return_full_exec_context=True))
    return {
        name: np.stack([one[name] for one in found]).astype(np.int64) for name in model.get_all_tensor_names()
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Assuming 4D input is NCHW:UserWarning")
def test_attention_as_a_circuit(tmp_path, simulations):
    original = attention()
    foldings = [
        {"SIMD": 4}, {"SIMD": 1}, {"SIMD": 2}, {"PE": 2, "SIMD": 4}, {"PE": 1}, {"PE": 4, "SIMD": 2}, {"SIMD": 16},
    ]  # fmt: skip
    model = circuit(original, foldings)
    design = stitch(generate_layers(model, tmp_path, PART))
    assert design.interval == 256
    design = design.with_depths({link.name: 64 for link in design.links if not link.weights})
    golden = golden_tensors(model)
    feeds = dict(
        zip("qkv", (golden[value.name][0].astype(np.float32) for value in model.graph.input), strict=True)
    )
    np.testing.assert_array_equal(execute_onnx(original, feeds)["y"], golden[model.graph.output[0].name][0])
    inputs = {value.name: golden[value.name] for value in model.graph.input}
    outputs = {value.name: golden[value.name] for value in model.graph.output}
    done = verify_design(design, inputs, outputs, tensors=lambda count: golden)
    assert (done.frames, done.mismatches, done.stalled_mismatches) == (FRAMES, 0, 0)
    assert done.interval_cycles == pytest.approx(256, rel=0.01)
