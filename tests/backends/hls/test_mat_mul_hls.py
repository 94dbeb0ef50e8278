"""MatMulHLS: its C++, compiled and run, against the MatMul kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.hls.mat_mul_hls import MatMulHLS
from brainsmith.kernels.datatypes import product_datatype

PART = "xczu7ev-ffvc1156-2-e"
KINDS = ["INT4", "UINT3", "INT8", "UINT1", "TERNARY", "BIPOLAR", "BINARY", "INT12"]


def product(lhs=(2, 6, 8), rhs=(2, 8, 4), simd=1, pe=1, kinds=("INT4", "INT4"), mode="cppsim"):
    output = product_datatype(DataType[kinds[0]], DataType[kinds[1]], lhs[-1])
    node = helper.make_node(
        "MatMulHLS", ["a", "b"], ["y"], name="product", domain="brainsmith.backends.hls", backend="fpgadataflow",
        SIMD=simd, PE=pe, lhs_shape=lhs, rhs_shape=rhs, lhsDataType=kinds[0], rhsDataType=kinds[1],
        outputDataType=output.name, exec_mode=mode,
    )  # fmt: skip
    shapes = {"a": lhs, "b": rhs, "y": (*lhs[:-1], rhs[-1])}
    values = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
    }
    graph = helper.make_graph([node], "test", [values["a"], values["b"]], [values["y"]])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    for name, kind in (("a", kinds[0]), ("b", kinds[1]), ("y", output.name)):
        model.set_tensor_datatype(name, DataType[kind])
    return model


def instance(model):
    return getCustomOp(model.graph.node[0])


def feeds_of(model, seed=0):
    rng, feeds = np.random.default_rng(seed), {}
    for at, name in enumerate(("a", "b")):
        kind = instance(model).get_input_datatype(at)
        shape = model.get_tensor_shape(name)
        bipolar = kind.name == "BIPOLAR"
        drawn = (
            rng.integers(0, 2, shape) * 2 - 1 if bipolar else rng.integers(kind.min(), kind.max() + 1, shape)
        )
        feeds[name] = drawn.astype(np.float32)
    return feeds


def check(model, seed=0):
    feeds = feeds_of(model, seed)
    expected = np.matmul(feeds["a"], feeds["b"])
    np.testing.assert_array_equal(execute_onnx(model, feeds)["y"], expected)
    instance(model).set_nodeattr("exec_mode", "")
    np.testing.assert_array_equal(execute_onnx(model, feeds)["y"], expected)


@pytest.mark.slow
def test_the_program_computes_what_the_kernel_computes():
    check(product(simd=4, pe=2))


@pytest.mark.slow
def test_one_matrix_for_all_rows():
    check(product((2, 3, 6), (6, 5), 3, 5, ("BIPOLAR", "UINT3")))


@pytest.mark.compiles(tried=1)  # that of the first value of each
@settings(max_examples=12, deadline=None)
@given(
    lanes=st.tuples(st.sampled_from([2, 1, 3]), st.sampled_from([3, 1, 2])),
    groups=st.tuples(st.sampled_from([3, 1, 2]), st.sampled_from([2, 1, 3])),
    rows=st.sampled_from([3, 1, 2, 4]),
    shared=st.booleans(),
    kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
)
def test_any_size_and_folding(lanes, groups, rows, shared, kinds):
    depth, columns = lanes[0] * groups[0], lanes[1] * groups[1]
    rhs = (depth, columns) if shared else (2, depth, columns)
    check(product((2, rows, depth), rhs, *lanes, kinds))


def test_an_output_that_loses_sums_is_refused():
    node = instance(product())
    assert MatMulHLS.supports(node)
    node.set_nodeattr("outputDataType", "INT8")
    assert MatMulHLS.supports(node).reason == "its output is INT8, and a sum may need INT11"


@pytest.mark.slow
def test_estimates_are_those_of_the_lanes():
    one, eight = instance(product()), instance(product(simd=4, pe=2))
    assert one.lut_estimation(PART) < eight.lut_estimation(PART)
    assert (one.dsp_estimation(PART), one.bram_estimation(PART), one.uram_estimation(PART)) == (0, 0, 0)
    assert instance(product(simd=4, pe=2, kinds=("INT8", "INT8"))).dsp_estimation(PART) == 8


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_finn_generates_code_for_it(tmp_path):
    model = product(simd=2, pe=2)
    op = instance(model)
    op.set_nodeattr("code_gen_dir_ipgen", str(tmp_path))
    op.code_generation_ipgen(model, PART, 5.0)
    text = (tmp_path / "top_product.cpp").read_text(encoding="utf-8")
    kind = "brainsmith::Integer<4, true>"
    assert f"typedef brainsmith::Product<6, 8, 4, 2, 2, {kind}, {kind}, 11> product_product;" in text
    assert "brainsmith::mat_mul<product_product>(in0_V, in1_V, out0_V);" in text
    assert (tmp_path / "mat_mul.hpp").exists()
    assert "set_top $config_toplevelfxn" in (tmp_path / "hls_syn_product.tcl").read_text(encoding="utf-8")
