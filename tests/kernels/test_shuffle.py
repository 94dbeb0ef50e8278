"""The Shuffle kernel against ONNX Runtime's Reshape and Transpose."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import check_kernel, infer, instance, make_model, run_in_fresh_process, run_onnx
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.transformation.infer_datatypes import InferDataTypes

from brainsmith.kernels.axes import Loop, moves_nothing, transpose_loops
from brainsmith.transforms.infer_shuffle import InferShuffle

EXACT = {"rtol": 0, "atol": 0}


def model_of(shape, *steps, datatype="INT4", scales=()):
    """Make a chain of reshapes ({"to": shape}), transposes ((axes)) and float scales, and its output's name."""
    nodes, constants, name = [], {}, "x"
    for at, step in enumerate(steps):
        output = "y" if at == len(steps) - 1 else f"t{at}"
        if isinstance(step, dict):
            constants[f"shape{at}"] = np.asarray(step["to"], np.int64)
            nodes.append(helper.make_node("Reshape", [name, f"shape{at}"], [output], name=f"reshape{at}"))
        elif isinstance(step, str):
            nodes.append(helper.make_node(step, [name], [output], name=f"other{at}"))
        else:
            nodes.append(helper.make_node("Transpose", [name], [output], name=f"transpose{at}", perm=step))
        name = output
    names = ["x", *(f"t{at}" for at in range(len(steps) - 1)), "y"]
    return make_model(nodes, {"x": shape}, ["y"], constants, datatypes=dict.fromkeys(names, datatype))


def values(shape, seed=0):
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(np.float32)


def all_values(shape):
    return np.arange(prod(shape)).reshape(shape)


@st.composite
def transposes(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    return shape, draw(st.permutations(range(len(shape))))


@given(drawn=transposes())
def test_loops_read_what_numpy_gives(drawn):
    shape, perm = drawn
    loops = transpose_loops(shape, perm)
    places = np.zeros([loop.size for loop in loops] or [1], np.int64)
    for at, loop in enumerate(loops):
        axes = [-1 if axis == at else 1 for axis in range(len(loops))]
        places += (np.arange(loop.size) * loop.stride).reshape(axes)
    moved = np.transpose(all_values(shape), perm).reshape(-1)
    np.testing.assert_array_equal(places.reshape(-1), moved)
    assert moves_nothing(shape, perm) == bool((moved == np.arange(prod(shape))).all())
    assert len(loops) <= sum(size > 1 for size in shape)


def test_axes_that_stay_neighbours_are_one_loop():
    assert transpose_loops((1, 8, 2, 16), (0, 2, 1, 3)) == (Loop(2, 16), Loop(8, 32), Loop(16, 1))
    assert transpose_loops((8, 2, 16), (1, 2, 0)) == (Loop(32, 1), Loop(8, 32))
    assert transpose_loops((2, 3, 4), (0, 1, 2)) == (Loop(24, 1),)
    assert transpose_loops((1, 1), (1, 0)) == ()


@settings(max_examples=40, deadline=None)
@given(drawn=transposes(), before=st.booleans(), behind=st.booleans(), more=st.booleans(), data=st.data())
def test_the_kernel_takes_the_place_of_any_chain(drawn, before, behind, more, data):
    shape, perm = drawn
    steps = [{"to": shape}, perm] if before else [perm]
    if more:
        steps.append(data.draw(st.permutations(range(len(shape)))))
    steps += [{"to": [prod(shape)]}] if behind else []
    model = model_of([prod(shape)] if before else shape, *steps)
    feeds = {"x": values(model.get_tensor_shape("x"))}
    after, modified = infer(InferShuffle(ends=True), model)
    assert modified
    expected = run_onnx(model, feeds)
    kinds = [node.op_type for node in after.graph.node]
    assert kinds in (["ShuffleKernel"], ["Reshape"])
    if kinds == ["Reshape"]:
        np.testing.assert_array_equal(run_onnx(after, feeds)["y"], expected["y"])
    else:
        check_kernel(after, feeds, expected, **EXACT)
        kernel = instance(after, "ShuffleKernel")
        limit = kernel.lanes_limit()
        kernel.set_nodeattr("SIMD", limit)
        assert np.prod(kernel.get_folded_input_shape()) == prod(shape)
        assert np.prod(kernel.get_folded_output_shape()) == prod(shape)
        assert kernel.get_exp_cycles() == prod(shape) // limit


def test_the_heads_of_attention():
    split, _ = infer(InferShuffle(ends=True), model_of((8, 32), {"to": (8, 2, 16)}, (1, 0, 2)))
    keys, _ = infer(InferShuffle(ends=True), model_of((8, 32), {"to": (8, 2, 16)}, (1, 0, 2), (0, 2, 1)))
    merge, _ = infer(InferShuffle(ends=True), model_of((2, 8, 16), (1, 0, 2), {"to": (8, 32)}))
    kernels = [instance(model, "ShuffleKernel") for model in (split, keys, merge)]
    assert [kernel.lanes_limit() for kernel in kernels] == [16, 1, 16]
    assert [kernel.get_normal_output_shape() for kernel in kernels] == [(2, 8, 16), (2, 16, 8), (8, 32)]
    assert kernels[1].get_nodeattr("perm") == [1, 2, 0]
    kernels[0].set_nodeattr("SIMD", 4)
    assert kernels[0].get_folded_input_shape() == (8, 8, 4)
    assert kernels[0].get_folded_output_shape() == (2, 8, 4, 4)
    assert (kernels[0].get_instream_width(), kernels[0].get_outstream_width()) == (16, 16)
    assert kernels[0].get_exp_cycles() == 64


def test_the_datatype_follows_the_input():
    after, _ = infer(InferShuffle(ends=True), model_of((3, 4), (1, 0)))
    after.set_tensor_datatype("x", DataType["INT2"])
    narrowed = after.transform(InferDataTypes())
    assert narrowed.get_tensor_datatype("y") == DataType["INT2"]
    assert instance(narrowed, "ShuffleKernel").get_input_datatype() == DataType["INT2"]


def test_a_transpose_at_an_end_is_left_to_the_host():
    assert infer(InferShuffle(), model_of((3, 4), (1, 0), "Relu"))[1] is False
    assert infer(InferShuffle(), model_of((3, 4), {"to": (4, 3)}, (1, 0), "Relu"))[1] is False
    assert infer(InferShuffle(), model_of((3, 4), "Relu", (1, 0)))[1] is False
    assert infer(InferShuffle(), model_of((3, 4), "Relu", (1, 0), {"to": (12,)}))[1] is False
    after, modified = infer(InferShuffle(), model_of((3, 4), "Relu", (1, 0), "Relu"))
    assert modified
    assert [node.op_type for node in after.graph.node] == ["Relu", "ShuffleKernel", "Relu"]


def test_what_is_read_in_between_stays():
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], name="one", perm=(1, 0)),
        helper.make_node("Transpose", ["t"], ["y"], name="two", perm=(1, 0)),
    ]
    model = make_model(nodes, {"x": (3, 4)}, ["y", "t"], datatypes=dict.fromkeys("xty", "INT4"))
    after, _ = infer(InferShuffle(ends=True), model)
    assert [node.op_type for node in after.graph.node] == ["ShuffleKernel", "ShuffleKernel"]
    feeds = {"x": values((3, 4))}
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)


def test_a_transpose_of_floats_stays():
    assert infer(InferShuffle(ends=True), model_of((3, 4), (1, 0), datatype="FLOAT32"))[1] is False


@pytest.mark.slow
def test_a_saved_model_runs_in_a_fresh_process(tmp_path):
    model = model_of((8, 32), {"to": (8, 2, 16)}, (1, 0, 2))
    feeds = {"x": values((8, 32))}
    after, _ = infer(InferShuffle(ends=True), model)
    found = run_in_fresh_process(after, feeds, tmp_path)
    np.testing.assert_array_equal(found["y"], run_onnx(model, feeds)["y"])


@pytest.mark.parametrize("op_type", ["Flatten", "Squeeze"])
def test_other_reshapes_are_part_of_it(op_type):
    model = model_of((1, 3, 4), (0, 2, 1), op_type)
    feeds = {"x": values((1, 3, 4))}
    after, _ = infer(InferShuffle(ends=True), model)
    assert [node.op_type for node in after.graph.node] == ["ShuffleKernel"]
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)
