"""Sums over rows, rows of tables, and products of two branches are layers of integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from brainsmith.errors import ModelError
from tests.steps.conftest import QONNX, Graph, integers
from tests.transforms.test_integer_layers import layers, op_types, same


def samples(seed, *shape):
    return np.random.default_rng(seed).integers(-8, 8, (6, *shape)).astype(np.float32)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 1 << 20),
    st.sampled_from([(1, 3, 2, 4), (1, 5, 3)]),
    st.sampled_from([0, 1]),
    st.booleans(),
)
def test_a_mean_waits_for_its_division(seed, shape, keepdims, total):
    graph = Graph(*shape).quant(4, 0.5)
    axes = list(range(2, 4)) if len(shape) == 4 else [1]
    if total:
        graph.node("ReduceMean", axes=axes, keepdims=keepdims).quant(5, 0.25)
    else:
        graph.node("ReduceMean", axes=axes, keepdims=keepdims)
    ones = (1,) * len(axes) if keepdims else ()
    result = (1, 3, *ones) if len(shape) == 4 else (1, *ones, 3)
    made = same(graph.model(*result, datatype="INT4"), samples(seed, *shape))
    assert op_types(made).count("ReduceSum") == 1


def test_a_mean_of_channels_moves_them():
    graph = Graph(1, 5, 3).quant(4, 0.5)
    graph.node("ReduceMean", axes=[2], keepdims=1).quant(4)
    made = same(graph.model(1, 5, 1, datatype="INT4"), samples(0, 1, 5, 3))
    assert op_types(made).count("ReduceSum") == 1


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 1 << 20),
    st.sampled_from([((1, 3, 2, 4), [2, 3]), ((1, 3, 2, 4), [1]), ((1, 5, 3), [1]), ((1, 5, 3), [2])]),
    st.sampled_from(["ReduceMax", "ReduceMin"]),
    st.sampled_from([-1.5, 0.5]),
)
def test_the_greatest_or_the_least_of_some_axes_is_one_window(seed, shape_and_axes, op_type, factor):
    shape, axes = shape_and_axes
    graph = Graph(*shape).quant(4, 0.5).node("Mul", factor)
    graph.node(op_type, axes=axes, keepdims=1).quant(5, 0.25)
    result = [1 if axis in axes else size for axis, size in enumerate(shape)]
    made = same(graph.model(*result, datatype="INT4"), samples(seed, *shape))
    assert op_types(made).count("MaxPoolNHWC") == 1


PAIRS = np.asarray([[[a, b]] for a in range(-8, 8) for b in (-8, -3, 0, 1, 7)], np.float32)


def branches(scales, shape=(1, 2)):
    """Return a graph whose input goes two ways, and the second one's end."""
    graph = Graph(*shape)
    first = graph.quant(4, scales[0]).tail
    graph.tail = "in"
    return graph.quant(3, scales[1]), first


@pytest.mark.slow
def test_a_product_of_two_branches():
    graph, first = branches((0.5, 2.0))
    made = same(graph.node("Mul", first).quant(5, 4.0).model(1, 2, datatype="INT4"), PAIRS)
    assert op_types(made).count("Mul") >= 1


def test_a_product_with_something_that_is_no_whole_number_of_its_scale_is_refused():
    graph, first = branches((0.5, 2.0))
    graph.node("Add", [0.3]).node("Mul", first).quant(5, 4.0)
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, 2, datatype="INT4"))
    assert "(Mul) stays on the host: one of its factors is not a whole multiple of its scale" in str(
        caught.value
    )


@pytest.mark.parametrize("added", [0.25, pytest.param(-1.0, marks=pytest.mark.slow)])
def test_a_factor_with_an_offset_is_made_of_parts_of_its_scale(added):
    graph, first = branches((0.5, 2.0))
    graph.node("Add", [added]).node("Mul", first).quant(5, 4.0)
    same(graph.model(1, 2, datatype="INT4"), PAIRS[::5])


def test_a_factor_of_signs_is_twice_bits_less_one():
    graph, first = branches((0.5, 2.0))
    graph.node("BipolarQuant", 0.5, domain=QONNX).node("Mul", first).quant(5, 0.25)
    same(graph.model(1, 2, datatype="INT4"), PAIRS[::5])


def of_table(rows, datatype="UINT3"):
    graph = Graph(1, 4)
    tokens = graph.tail
    graph.tail = graph.constant(integers(1, rows, 3) * 0.5)
    table = graph.quant(4, 0.5).tail
    graph.nodes.append(helper.make_node("Gather", [table, tokens], ["rows"], name="gather", axis=0))
    graph.tail = "rows"
    graph.node("MatMul", graph.weights(integers(2, 3, 2))).quant(4, 4.0)
    made = graph.model(1, 4, 2, datatype=datatype)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return made


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(["Max", "Min"]),
    st.sampled_from([(0.5, 2.0), (1.0, 1.0), (0.25, 0.75)]),
    st.sampled_from([None, -1.0, [[1.0, -2.0]]]),
)
def test_the_greater_and_the_lesser_of_two_branches(operation, scales, factor):
    graph, first = branches(scales)
    if factor is not None:
        graph.node("Mul", np.asarray(factor, np.float32))
    made = same(graph.node(operation, first).quant(5, 0.5).model(1, 2, datatype="INT4"), PAIRS)
    assert op_types(made).count("Max") == 1


def test_branches_of_scales_without_a_unit_in_common_are_not_compared():
    graph, first = branches((0.1234567, 0.7654321))
    with pytest.raises(ModelError, match="it joins values whose scales, or zero points, have no common unit"):
        layers(graph.node("Max", first).quant(5, 0.5).model(1, 2, datatype="INT4"))


def test_rows_of_a_table_are_integers_with_its_scale():
    samples = np.random.default_rng(0).integers(0, 8, (5, 1, 4))
    assert op_types(same(of_table(8), samples))[:2] == ["Gather", "MatMul"]


def test_places_that_may_lie_outside_are_refused():
    with pytest.raises(ModelError) as caught:
        layers(of_table(7))
    assert str(caught.value) == (
        "no integer layers for node 'gather' (Gather): its indices go from 0 to 7, and its table has 7 rows: "
        "give the table as many rows, or the input a datatype that holds only valid indices"
    )


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_a_difference_of_two_branches_needs_no_factor_of_minus_one(swapped):
    graph, first = branches((0.5, 0.5))
    fork = graph.tail
    if swapped:
        graph.tail = first
    made = same(
        graph.node("Sub", fork if swapped else first).quant(5, 1.0).model(1, 2, datatype="INT4"), PAIRS
    )
    assert op_types(made)[:4] == ["MultiThreshold", "MultiThreshold", "Sub", "MultiThreshold"]
