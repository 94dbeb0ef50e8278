"""Nodes of the domain brainsmith.ops: their programs against the ops' own forward, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.transforms.fuse_elementwise import FuseElementwise
from tests.execution.program.single_node import assert_lowered_right, assert_same_bits, one_node, run_program

OPS = "brainsmith.ops"
SEEDS = st.integers(0, 1000)


def numbers(seed, shape):
    stack = np.random.default_rng(seed).normal(0, 3, (3, *shape)).astype(np.float32)
    stack.reshape(-1)[:6] = [0, -0.0, np.inf, -np.inf, np.nan, 2.5]
    return stack


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from(["int_quant", "power_of_two_quant"]), st.integers(1, 8), st.booleans())
def test_integer_quantisers(seed, name, bits, by_channel):
    random = np.random.default_rng(seed)
    scale = random.uniform(0.1, 2, (3, 1) if by_channel else ()).astype(np.float32)
    constants = {"s": scale, "z": np.zeros((), np.float32), "b": np.array(bits, np.float32)}
    attributes = {"signed": int(random.integers(2))} if seed % 2 else {}
    model = one_node(name, {"x": (1, 3, 5)}, {"y": (1, 3, 5)}, constants, domain=OPS, **attributes)
    assert_lowered_right(model, x=numbers(seed, (1, 3, 5)))


def test_bipolar_quantiser():
    model = one_node(
        "bipolar_quant", {"x": (1, 3, 5)}, {"y": (1, 3, 5)}, {"s": np.array(0.5, np.float32)}, domain=OPS
    )
    assert_lowered_right(model, x=numbers(0, (1, 3, 5)))
    assert "brainsmith.ops.bipolar_quant" in lower(runnable_copy(model)).modules


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([1, 5, 20]))
def test_thresholds(seed, count):
    thresholds = np.random.default_rng(seed).normal(0, 2, (3, count)).astype(np.float32)
    model = one_node(
        "multi_threshold",
        {"x": (1, 3, 5)},
        {"y": (1, 3, 5)},
        {"t": thresholds},
        domain=OPS,
        out_bias=-2.0,
        data_layout="NCW",
    )
    assert_lowered_right(model, x=numbers(seed, (1, 3, 5)))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [1, 3])
def test_fused_expressions(rank):
    shape = (1, 3, 5)
    nodes = [
        helper.make_node("Mul", ["x", "c"], ["a"], name="a"),
        helper.make_node("Add", ["a", "z"], ["b"], name="b"),
        helper.make_node("Relu", ["b"], ["y"], name="c"),
    ]
    inputs = {"x": shape, "z": shape[-rank:]}
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (*inputs.items(), ("y", shape))
    ]
    graph = helper.make_graph(nodes, "chain", values[:-1], values[-1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(OPS, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=10))
    model.set_initializer("c", np.linspace(-1, 1, 5, dtype=np.float32))
    stacks = {
        name: np.random.default_rng(0).normal(0, 1, (4, *size)).astype(np.float32)
        for name, size in inputs.items()
    }
    wanted = run_program(model, stacks)["y"]
    fused = model.transform(InferShapes()).transform(FuseElementwise())
    assert len(fused.graph.node) < len(nodes)
    assert "fused.expression" in [made.function for made in lower(runnable_copy(fused)).instructions]
    assert_same_bits(run_program(fused, stacks)["y"], wanted)
