"""Factors of integers become thresholds or weights, or stay, and the integers stay the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.graph.integer_range import within
from brainsmith.transforms.integer.fold_factors import fold_factors
from brainsmith.transforms.integer.layer_graph import QONNX, LayerGraph, LayerTensor


def thresholds_and_factor(rows, bias, factor, readers=1):
    """A MultiThreshold of integers from -9 to 9, and a factor behind it."""
    graph = LayerGraph()
    channels = max(len(rows), factor.size)
    graph.tensors["in"] = LayerTensor((1, channels), within(-9, 9))
    name = graph.add(
        "MultiThreshold", ["in"], "levels", (1, channels), within(bias, bias + rows.shape[1]), constant=rows,
        domain=QONNX, out_dtype="UINT1", out_scale=1.0, out_bias=float(bias), data_layout="NC",
    )  # fmt: skip
    graph.add("Mul", [name], "times", (1, channels), within(-99, 99), constant=factor)
    for _ in range(readers - 1):
        graph.add("Identity", [name], "other", (1, channels), within(-9, 9))
    return graph


def levels(layer, numbers):
    """Count, for each number, the thresholds that it reaches."""
    bias = next(each.f for each in layer.node.attribute if each.name == "out_bias")
    return bias + (numbers[..., None] >= layer.constant[:, None, :]).sum(axis=2)


@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(1, 3), st.integers(1, 5), st.integers(-4, 2))
def test_thresholds_count_as_often_as_the_factors_say(data, channels, count, bias):
    number = st.integers(-9, 10)
    rows = np.asarray(
        [sorted(data.draw(st.lists(number, min_size=count, max_size=count))) for _ in range(channels)]
    )
    size = data.draw(st.sampled_from([1, channels]))
    factor = np.asarray(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    graph = thresholds_and_factor(rows, bias, factor)
    numbers = np.broadcast_to(np.arange(-9, 10), (channels, 19))
    expected = levels(graph.layers[0], numbers) * factor[:, None]
    fold_factors(graph)
    (layer, *others) = graph.layers
    if not others:
        np.testing.assert_array_equal(np.broadcast_to(levels(layer, numbers), expected.shape), expected)
        assert layer.result == "times"
    else:
        (product,) = others
        assert not factor.any()
        np.testing.assert_array_equal(product.constant, factor)


@pytest.mark.parametrize(("factor", "readers"), [([2, -3], 1), ([2, 3], 2), ([40, 90], 1)])
def test_what_cannot_be_thresholds_stays_a_factor(factor, readers):
    graph = thresholds_and_factor(np.asarray([[-3, 0, 4]] * 2), 0, np.asarray(factor), readers)
    fold_factors(graph)
    assert [layer.node.op_type for layer in graph.layers[:2]] == ["MultiThreshold", "Mul"]
    assert graph.layers[1].constant.tolist() == factor


def test_the_datatype_holds_levels_that_are_never_reached():
    graph = thresholds_and_factor(np.asarray([[-9]]), -1, np.asarray([16]))
    graph.tensors["times"].range = within(0, 0)
    fold_factors(graph)
    assert graph.layers[0].constant.shape == (1, 16)
    assert graph.tensors["times"].datatype == "INT5"


def test_weights_take_a_factor_of_each_result():
    graph = LayerGraph()
    graph.tensors["in"] = LayerTensor((1, 2), within(-9, 9))
    name = graph.add("MatMul", ["in"], "sums", (1, 2), within(-99, 99), constant=np.asarray([[1, 2], [3, 4]]))
    graph.add("Mul", [name], "times", (1, 2), within(-99, 99), constant=np.asarray([5, -1]))
    fold_factors(graph)
    (layer,) = graph.layers
    assert layer.constant.tolist() == [[5, -2], [15, -4]]
