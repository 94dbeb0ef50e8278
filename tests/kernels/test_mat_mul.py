"""The MatMul kernel against ONNX Runtime's MatMul, with two computed inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import check_kernel, infer, instance, make_model, run_in_fresh_process, run_onnx
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.transformation.infer_datatypes import InferDataTypes

from brainsmith.rtl.cores.parallelism import divisors
from brainsmith.transforms.infer_mat_mul import InferMatMul

DATATYPES = ["INT2", "INT4", "UINT3", "INT8", "UINT8", "BIPOLAR", "TERNARY", "BINARY"]
# Sums of fewer than 2 ** 24 are exact in single precision, whatever their order.
EXACT = {"rtol": 0, "atol": 0}


def model_of(lhs, rhs, lhs_type="INT4", rhs_type="INT4", constants=None):
    node = helper.make_node("MatMul", ["a", "b"], ["y"], name="product")
    inputs = {name: shape for name, shape in (("a", lhs), ("b", rhs)) if name not in (constants or {})}
    return make_model([node], inputs, ["y"], constants, datatypes={"a": lhs_type, "b": rhs_type})


def values(datatype, shape, seed):
    rng = np.random.default_rng(seed)
    if datatype == "BIPOLAR":
        return (2 * rng.integers(0, 2, shape) - 1).astype(np.float32)
    kind = DataType[datatype]
    return rng.integers(int(kind.min()), int(kind.max()) + 1, shape).astype(np.float32)


@settings(max_examples=50, deadline=None)
@given(
    batch=st.lists(st.integers(1, 3), max_size=2),
    shared=st.booleans(),
    sizes=st.tuples(*[st.integers(1, 6)] * 3),
    types=st.tuples(st.sampled_from(DATATYPES), st.sampled_from(DATATYPES)),
)
def test_numbers_of_any_shape(batch, shared, sizes, types):
    rows, depth, columns = sizes
    lhs, rhs = (*batch, rows, depth), (*([] if shared else batch), depth, columns)
    model = model_of(lhs, rhs, *types)
    feeds = {"a": values(types[0], lhs, 1), "b": values(types[1], rhs, 2)}
    after, modified = infer(InferMatMul(), model)
    assert modified
    expected = run_onnx(model, feeds)
    check_kernel(after, feeds, expected, **EXACT)
    datatype = after.get_tensor_datatype("y")
    assert all(datatype.allowed(value) for value in expected["y"].reshape(-1))
    kernel = instance(after, "MatMulKernel")
    for ind, name in enumerate(("a", "b")):
        assert np.prod(kernel.get_folded_input_shape(ind)) == feeds[name].size
        assert kernel.get_input_datatype(ind) == DataType[types[ind]]
    assert np.prod(kernel.get_folded_output_shape()) == expected["y"].size


@pytest.mark.parametrize(
    ("lhs", "rhs", "flaw"),
    [
        ((1, 3, 6), (1, 6, 4), ""),
        ((5, 3, 6), (6, 4), ""),
        ((3, 6), (5, 4), "its inputs are (3, 6) and (5, 4): a row of the first has 6 values, a column of the second 5"),
        (
            (1, 3, 6), (2, 6, 4),
            "its inputs are (1, 3, 6) and (2, 6, 4): the second is neither one matrix nor one for each of the first",
        ),
        ((6,), (6, 4), "its inputs are (6,) and (6, 4), and both must have 2 dimensions or more"),
    ],
)  # fmt: skip
def test_shapes_that_cannot_be_multiplied_are_a_flaw(lhs, rhs, flaw):
    kernel = instance(infer(InferMatMul(), model_of((3, 6), (6, 4)))[0], "MatMulKernel")
    kernel.set_nodeattr("lhs_shape", list(lhs))
    kernel.set_nodeattr("rhs_shape", list(rhs))
    assert kernel.flaw() == flaw


@pytest.mark.parametrize(
    ("lhs", "rhs", "depth", "expected"),
    [
        ("INT2", "INT2", 1, "INT4"),
        ("UINT2", "UINT2", 4, "UINT6"),
        ("BIPOLAR", "BIPOLAR", 7, "INT4"),
        ("INT8", "INT8", 64, "INT22"),
        ("INT4", "UINT4", 2, "INT9"),
    ],
)
def test_the_output_holds_every_sum_and_no_more(lhs, rhs, depth, expected):
    after, _ = infer(InferMatMul(), model_of((3, depth), (depth, 2), lhs, rhs))
    assert after.get_tensor_datatype("y") == DataType[expected]
    one, other = DataType[lhs], DataType[rhs]
    extremes = [depth * a * b for a in (one.min(), one.max()) for b in (other.min(), other.max())]
    narrower = DataType[expected].name.rstrip("0123456789") + str(DataType[expected].bitwidth() - 1)
    assert all(DataType[expected].allowed(value) for value in extremes)
    assert not all(DataType[narrower].allowed(value) for value in extremes)


def test_the_output_follows_the_inputs_datatypes():
    after, _ = infer(InferMatMul(), model_of((3, 4), (4, 2), "INT8", "INT8"))
    assert after.get_tensor_datatype("y") == DataType["INT18"]
    after.set_tensor_datatype("b", DataType["INT2"])
    narrowed = after.transform(InferDataTypes())
    assert narrowed.get_tensor_datatype("y") == DataType["INT12"]
    kernel = instance(narrowed, "MatMulKernel")
    assert kernel.get_input_datatype(1) == DataType["INT2"]


def test_streams_and_cycles():
    after, _ = infer(InferMatMul(), model_of((1, 2, 6, 8), (1, 2, 8, 4)))
    kernel = instance(after, "MatMulKernel")
    assert (kernel.matrices, kernel.rows, kernel.depth, kernel.columns) == (2, 6, 8, 4)
    assert kernel.get_exp_cycles() == 2 * 6 * 8 * 4
    kernel.set_nodeattr("SIMD", 8)
    kernel.set_nodeattr("PE", 2)
    # Six rows of 2 beats are faster than collecting 8 x 4 values, two at a time.
    assert kernel.get_exp_cycles() == 2 * (8 * 2)
    assert kernel.get_folded_input_shape(0) == (1, 2, 6, 1, 8)
    assert kernel.get_folded_input_shape(1) == (1, 2, 8, 2, 2)
    assert kernel.get_folded_output_shape() == (1, 2, 6, 2, 2)
    assert [kernel.get_instream_width(0), kernel.get_instream_width(1)] == [32, 8]
    assert [(one.attribute, one.values) for one in kernel.parallelism()] == [
        ("PE", (1, 2, 4)), ("SIMD", (1, 2, 4, 8)),
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "depth"), [(5, 8), (7, 64), (50, 64), (17, 32), (4, 8), (1, 8), (9, 6)])
def test_it_can_be_folded_until_no_more_lanes_make_it_faster_and_no_further(rows, depth):
    after, _ = infer(InferMatMul(), model_of((1, rows, depth), (1, depth, 4)))
    kernel = instance(after, "MatMulKernel")
    values = kernel.parallelism()[1].values
    cycles = {}
    for lanes in divisors(depth):
        kernel.set_nodeattr("SIMD", lanes)
        cycles[lanes] = kernel.get_exp_cycles()
    assert cycles[values[-1]] == min(cycles.values())
    assert len({cycles[lanes] for lanes in values}) == len(values)


def test_one_matrix_for_all_rows():
    after, _ = infer(InferMatMul(), model_of((2, 3, 8), (8, 4)))
    kernel = instance(after, "MatMulKernel")
    assert (kernel.matrices, kernel.rows) == (1, 6)
    assert kernel.get_normal_output_shape() == (2, 3, 4)


@pytest.mark.parametrize(
    ("lhs", "rhs", "types"),
    [
        ((2, 3, 4), (1, 4, 5), ("INT4", "INT4")),
        ((3, 4), (2, 4, 5), ("INT4", "INT4")),
        ((4,), (4, 5), ("INT4", "INT4")),
        ((3, 4), (4,), ("INT4", "INT4")),
        ((3, 4), (4, 5), ("FLOAT32", "INT4")),
    ],
)
def test_what_the_kernel_does_not_serve_stays(lhs, rhs, types):
    assert infer(InferMatMul(), model_of(lhs, rhs, *types))[1] is False


def test_constant_weights_stay():
    model = model_of((3, 4), (4, 5), constants={"b": values("INT4", (4, 5), 1)})
    assert infer(InferMatMul(), model)[1] is False


@pytest.mark.slow
def test_a_saved_model_runs_in_a_fresh_process(tmp_path):
    model = model_of((2, 3, 8), (2, 8, 4))
    feeds = {"a": values("INT4", (2, 3, 8), 1), "b": values("INT4", (2, 8, 4), 2)}
    after, _ = infer(InferMatMul(), model)
    found = run_in_fresh_process(after, feeds, tmp_path)
    np.testing.assert_array_equal(found["y"], run_onnx(model, feeds)["y"])
