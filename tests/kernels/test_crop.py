"""The Crop kernel against ONNX Runtime's Slice and Gather."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_graphs import check_kernel, infer, instance, make_model, run_in_fresh_process, run_onnx
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_datatypes import InferDataTypes

from brainsmith.transforms.infer_crop import InferCrop

EXACT = {"rtol": 0, "atol": 0}


def slice_model(shape, starts, ends, axes=None, steps=None, datatype="INT4"):
    given = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    constants = {name: np.asarray(value, np.int64) for name, value in given.items() if value is not None}
    inputs = [name if name in constants else "" for name in given]
    node = helper.make_node("Slice", ["x", *inputs], ["y"], name="window")
    return make_model([node], {"x": shape}, ["y"], constants, datatypes={"x": datatype, "y": datatype})


def gather_model(shape, indices, axis=0, datatype="INT4"):
    node = helper.make_node("Gather", ["x", "indices"], ["y"], name="token", axis=axis)
    constants = {"indices": np.asarray(indices, np.int64)}
    return make_model([node], {"x": shape}, ["y"], constants, datatypes={"x": datatype, "y": datatype})


def values(shape):
    return np.random.default_rng(0).integers(-8, 8, shape).astype(np.float32)


@st.composite
def windows(draw):
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    starts = [draw(st.integers(0, size - 1)) for size in shape]
    ends = [draw(st.integers(start + 1, size)) for start, size in zip(starts, shape, strict=True)]
    return shape, starts, ends


@settings(max_examples=40, deadline=None)
@given(drawn=windows(), below=st.booleans())
def test_the_kernel_takes_the_place_of_a_slice(drawn, below):
    shape, starts, ends = drawn
    limits = [start - size for start, size in zip(starts, shape, strict=True)] if below else starts
    model = slice_model(shape, limits, ends)
    feeds = {"x": values(shape)}
    after, modified = infer(InferCrop(), model)
    assert modified
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)
    kernel = instance(after, "CropKernel")
    kernel.set_nodeattr("SIMD", kernel.lanes_limit())
    assert np.prod(kernel.get_folded_input_shape()) == np.prod(shape)
    assert np.prod(kernel.get_folded_output_shape()) == np.prod(model.get_tensor_shape("y"))


@pytest.mark.parametrize(
    ("indices", "axis", "starts", "sizes", "out_shape"),
    [
        (0, 1, [0, 0, 0], [2, 1, 32], (2, 32)),
        (-1, -2, [0, 7, 0], [2, 1, 32], (2, 32)),
        ([3], 1, [0, 3, 0], [2, 1, 32], (2, 1, 32)),
        ([2, 3, 4], 1, [0, 2, 0], [2, 3, 32], (2, 3, 32)),
        ([-2, -1], 2, [0, 0, 30], [2, 8, 2], (2, 8, 2)),
    ],
)
def test_tokens_by_their_indices(indices, axis, starts, sizes, out_shape):
    model = gather_model((2, 8, 32), indices, axis)
    feeds = {"x": values((2, 8, 32))}
    after, _ = infer(InferCrop(), model)
    check_kernel(after, feeds, run_onnx(model, feeds), **EXACT)
    kernel = instance(after, "CropKernel")
    assert (kernel.get_nodeattr("starts"), kernel.get_nodeattr("sizes")) == (starts, sizes)
    assert kernel.get_normal_output_shape() == out_shape


@pytest.mark.parametrize("read", [(0,), (2,), (0, 2), (1,)])
def test_parts_of_a_split_that_are_read_are_windows(read):
    """The stream of a part that nothing reads would be left open."""
    names = [f"p{at}" for at in range(3)]
    sizes = np.asarray([2, 1, 3], np.int64)
    nodes = [helper.make_node("Split", ["x", "sizes"], names, name="parts", axis=-2)]
    shapes = {"x": (2, 6, 4)}
    model = make_model(nodes, shapes, [names[at] for at in read], {"sizes": sizes}, datatypes={"x": "INT4"})
    for name, size in zip(names, sizes, strict=True):
        model.set_tensor_shape(name, (2, int(size), 4))
    feeds = {"x": values(shapes["x"])}
    after, modified = infer(InferCrop(), model)
    assert modified
    assert [node.op_type for node in after.graph.node] == ["CropKernel"] * len(read)
    found = [execute_onnx(after, feeds)[names[at]] for at in read]
    for at, each in zip(read, found, strict=True):
        np.testing.assert_array_equal(each, np.split(feeds["x"], [2, 3], axis=1)[at])


def test_a_split_of_which_all_parts_are_read_stays():
    nodes = [helper.make_node("Split", ["x", "sizes"], ["a", "b"], axis=-1)]
    constants = {"sizes": np.asarray([1, 3], np.int64)}
    model = make_model(nodes, {"x": (2, 4)}, ["a", "b"], constants, datatypes={"x": "INT4"})
    assert not infer(InferCrop(), model)[1]


def test_lanes_and_cycles():
    after, _ = infer(InferCrop(), slice_model((8, 32), [4, 8], [5, 32]))
    kernel = instance(after, "CropKernel")
    assert kernel.lanes_limit() == 8
    assert kernel.get_exp_cycles() == 256
    kernel.set_nodeattr("SIMD", 8)
    assert kernel.get_exp_cycles() == 32
    assert (kernel.get_folded_input_shape(), kernel.get_folded_output_shape()) == ((8, 4, 8), (1, 3, 8))
    assert (kernel.get_instream_width(), kernel.get_outstream_width()) == (32, 32)


def test_the_datatype_follows_the_input():
    after, _ = infer(InferCrop(), gather_model((4, 4), 1))
    after.set_tensor_datatype("x", DataType["INT2"])
    assert after.transform(InferDataTypes()).get_tensor_datatype("y") == DataType["INT2"]


@pytest.mark.parametrize(
    "model",
    [
        slice_model((8, 4), [0], [8], [0], [2]),
        slice_model((8, 4), [0], [4], [0], datatype="FLOAT32"),
        gather_model((8, 4), [0, 2]),
        gather_model((8, 4), [1, 0]),
        gather_model((8, 4), [[0, 1]]),
    ],
    ids=["steps", "floats", "gaps", "backwards", "a matrix of indices"],
)
def test_what_is_no_window_stays(model):
    assert infer(InferCrop(), model)[1] is False


def test_a_computed_index_stays():
    node = helper.make_node("Gather", ["x", "indices"], ["y"], axis=0)
    model = make_model([node], {"x": (8, 4), "indices": (2,)}, [])
    assert InferCrop().apply(model)[1] is False


@pytest.mark.slow
def test_a_saved_model_runs_in_a_fresh_process(tmp_path):
    model, feeds = gather_model((8, 32), 3), {"x": values((8, 32))}
    after, _ = infer(InferCrop(), model)
    found = run_in_fresh_process(after, feeds, tmp_path)
    np.testing.assert_array_equal(found["y"], run_onnx(model, feeds)["y"])
