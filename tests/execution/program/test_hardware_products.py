"""MVAU, VVAU, XnorPopcountMatMul and our MatMul: their programs against the reference, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.program.single_node import (
    FINN,
    QONNX,
    assert_lowered_right,
    is_foreign,
    one_node,
    run_program,
    run_reference,
    whole_numbers,
)

prepare_finn()
SEEDS = st.integers(0, 1000)
KINDS = st.sampled_from(["INT4", "UINT3", "BIPOLAR"])
STEPS = st.sampled_from([0, 1, 3, 15])


def draw(random, kind, shape):
    if kind == "BIPOLAR":
        return random.choice([-1, 1], shape).astype(np.float32)
    datatype = DataType[kind]
    return whole_numbers(random, int(datatype.min()), int(datatype.max()), shape)


def mvau(random, vectors, kinds, steps, width=20, height=6, xnor=False, bipolar=False, single=False):
    constants = {"w": draw(random, "BINARY" if xnor else kinds[1], (width, height))}
    output = "INT32"
    if steps:
        rows = 1 if single else height
        constants["t"] = np.sort(random.integers(-30, 30, (rows, steps)), axis=1).astype(np.float32)
        output = "BIPOLAR" if bipolar else "INT8"
    x_kind = "BINARY" if xnor else kinds[0]
    return one_node(
        "MVAU", {"x": (*vectors, width)}, {"y": (*vectors, height)}, constants, domain=FINN, MW=width, MH=height, SIMD=1,
        PE=1, inputDataType=x_kind, weightDataType="BINARY" if xnor else kinds[1], outputDataType=output, ActVal=-2,
        binaryXnorMode=int(xnor), noActivation=int(not steps), numInputVectors=list(vectors), datatypes={"x": x_kind},
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([(1,), (1, 3, 2)]), KINDS, KINDS, STEPS, st.booleans(), st.booleans())
def test_mvau(seed, vectors, kind, weights, steps, bipolar, single):
    random = np.random.default_rng(seed)
    model = mvau(random, vectors, (kind, weights), steps, bipolar=bipolar and steps == 1, single=single)
    assert_lowered_right(model, x=draw(random, kind, (3, *vectors, 20)))


@settings(max_examples=20, deadline=None)
@given(SEEDS, STEPS, st.booleans())
def test_mvau_of_bits(seed, steps, single):
    random = np.random.default_rng(seed)
    model = mvau(random, (1,), ("BINARY", "BINARY"), steps, xnor=True, single=single)
    assert_lowered_right(model, x=draw(random, "BINARY", (3, 1, 20)))


def test_sums_beyond_single_precision_are_exact():
    random = np.random.default_rng(0)
    model = mvau(random, (1,), ("INT16", "INT12"), 0, width=600)
    x = draw(random, "INT16", (4, 1, 600))
    weights = model.get_initializer("w").astype(np.int64)
    exact = x.astype(np.int64) @ weights
    assert np.abs(exact).max() > 1 << 24
    np.testing.assert_array_equal(run_program(model, {"x": x})["y"], exact.astype(np.float32))


def test_thresholds_of_three_axes_are_left_to_qonnx():
    model = mvau(np.random.default_rng(0), (1, 6), ("INT4", "INT4"), 3)
    assert is_foreign(lower(runnable_copy(model)))
    assert not is_foreign(
        lower(runnable_copy(mvau(np.random.default_rng(0), (1, 6), ("INT4", "INT4"), 3, single=True)))
    )


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([(1, 16), (2, 3, 16)]))
def test_xnor_popcount(seed, shape):
    random = np.random.default_rng(seed)
    weights = draw(random, "BINARY", (16, 5))
    model = one_node(
        "XnorPopcountMatMul", {"x": shape}, {"y": (*shape[:-1], 5)}, {"w": weights}, domain=QONNX,
        datatypes={"x": "BINARY", "w": "BINARY"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(random, "BINARY", (3, *shape)))


def vvau(random, kinds, steps, lanes, window=""):
    """Return a VVAU, behind a sliding window that gives as many channels at a time if one is asked for."""
    channels, kernel = 4, (3, 2)
    node = helper.make_node(
        "VVAU", ["w", "k", *["t"] * bool(steps)], ["y"], name="node", domain=FINN, PE=lanes, Dim=[4, 5], Kernel=kernel,
        Channels=channels, inputDataType=kinds[0], weightDataType=kinds[1],
        outputDataType="INT8" if steps else "INT32", ActVal=-1, noActivation=int(not steps),
    )  # fmt: skip
    nodes, first = [node], {"w": (1, 4, 5, channels * 6)}
    domains = {FINN, f"{FINN}.{window}" if window else FINN}
    if window:
        first = {"x": (1, 6, 6, channels)}
        nodes.insert(0, helper.make_node(
            f"ConvolutionInputGenerator_{window}", ["x"], ["w"], name="window", domain=f"{FINN}.{window}",
            ConvKernelDim=kernel, IFMChannels=channels, IFMDim=[6, 6], OFMDim=[4, 5], SIMD=lanes, M=1, Stride=[1, 1],
            Dilation=[1, 1], inputDataType=kinds[0], outputDataType=kinds[0], depthwise=1, backend="fpgadataflow",
        ))  # fmt: skip
    ((name, shape),) = first.items()
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in ((name, shape), ("y", (1, 4, 5, 4)))
    ]
    inner = [helper.make_tensor_value_info("w", TensorProto.FLOAT, (1, 4, 5, channels * 6))] if window else []
    graph = helper.make_graph(nodes, "vvau", values[:1], values[1:], value_info=inner)
    opsets = [helper.make_opsetid(domain, 1) for domain in sorted(domains)]
    model = ModelWrapper(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), *opsets], ir_version=10)
    )
    model.set_initializer("k", draw(random, kinds[1], (channels, 1, *kernel)))
    if steps:
        thresholds = np.sort(random.integers(-30, 30, (channels, steps)), axis=1).astype(np.float32)
        model.set_initializer("t", thresholds)
    model.set_tensor_datatype(name, DataType[kinds[0]])
    return model


@settings(max_examples=25, deadline=None)
@given(SEEDS, KINDS, KINDS, STEPS, st.sampled_from([1, 2, 4]))
def test_vvau(seed, kind, weights, steps, lanes):
    random = np.random.default_rng(seed)
    model = vvau(random, (kind, weights), steps, lanes)
    assert_lowered_right(model, w=draw(random, kind, (3, 1, 4, 5, 24)))


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_vvau_takes_windows_as_its_sliding_window_gives_them(lanes):
    random = np.random.default_rng(lanes)
    results = []
    x = draw(random, "INT4", (3, 1, 6, 6, 4))
    for window in ("hls", "rtl"):
        model = vvau(np.random.default_rng(lanes), ("INT4", "INT4"), 3, lanes, window)
        results.append(run_program(model, {"x": x})["y"])
        np.testing.assert_array_equal(results[-1], run_reference(runnable_copy(model), {"x": x})["y"])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("shapes", [((2, 3, 8), (8, 5)), ((2, 3, 8), (2, 8, 5)), ((1, 2, 3, 8), (8, 5))])
@pytest.mark.parametrize("kinds", [("INT4", "INT4"), ("INT16", "INT16"), ("FLOAT32", "FLOAT32")])
def test_mat_mul(shapes, kinds):
    random = np.random.default_rng(0)
    left, right = shapes
    model = one_node(
        "MatMulKernel", {"a": left, "b": right}, {"y": (*left[:-1], right[-1])}, domain="brainsmith.kernels",
        lhs_shape=left, rhs_shape=right, lhsDataType=kinds[0], rhsDataType=kinds[1], outputDataType="INT32",
        datatypes={"a": kinds[0], "b": kinds[1]},
    )  # fmt: skip
    stacks = {
        name: random.normal(0, 1, (3, *shape)).astype(np.float32)
        for name, shape in zip("ab", shapes, strict=True)
    }
    if kinds[0] != "FLOAT32":
        stacks = {
            name: draw(random, kind, stacks[name].shape) for name, kind in zip("ab", kinds, strict=True)
        }
    assert_lowered_right(model, **stacks)


@pytest.mark.parametrize("steps", [0, 3])
def test_the_backend_of_one_bit_weights_is_lowered_as_its_kernel(steps):
    random = np.random.default_rng(steps)
    model = mvau(random, (1,), ("INT4", "BIPOLAR"), steps)
    x = draw(random, "INT4", (3, 1, 20))
    wanted = run_reference(model, {"x": x})["y"]
    (node,) = model.graph.node
    node.op_type, node.domain = "BinaryMVAU_rtl", f"{FINN}.rtl"
    model.model.opset_import.append(helper.make_opsetid(node.domain, 1))
    np.testing.assert_array_equal(run_program(model, {"x": x})["y"], wanted)
