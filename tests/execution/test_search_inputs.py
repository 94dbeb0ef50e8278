"""Inputs are found that bring inner tensors onto, just below and just above the ends of levels."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.execution import search_inputs
from brainsmith.execution.generated_inputs import Range, generated_inputs
from brainsmith.execution.search_inputs import nearest_inputs
from tests.steps.conftest import QONNX, Graph

BITS = 3
HALF = 2 ** (BITS - 1)


def network(weights, scales, datatype):
    """Return dense layers of whole weights, each with a quantiser of 3 bits behind it."""
    graph, total = Graph(1, len(weights[0])), 1.0
    for each, scale in zip(weights, scales, strict=True):
        total *= scale
        graph.node("MatMul", graph.weights(each, bits=4)).quant(BITS, scale=total)
    return graph.model(1, weights[-1].shape[1], datatype=datatype).transform(InferShapes())


def levels(inputs, weights, scales):
    """Return what each quantiser gets, in levels and half of one, so that levels end at whole numbers."""
    found, tensor = [], inputs.reshape(len(inputs), -1).astype(np.float64)
    for each, scale in zip(weights, scales, strict=True):
        sums = tensor @ each / scale
        found.append(sums + 0.5)
        tensor = np.clip(np.rint(sums), -HALF, HALF - 1)
    return found


def reached(values):
    """Return for each end whether a value is on it, and the values next to it that are in the levels beside it."""
    values = np.unique(values)
    return [
        (
            end in values,
            max(values[(values < end) & (values > end - 1)], default=None),
            min(values[(values > end) & (values < end + 1)], default=None),
        )
        for end in range(1 - HALF, HALF)
    ]


def found_nothing(found, reason=""):
    return (len(found.stack), found.thresholds, found.unsearched) == (0, 0, reason)


def all_inputs(low, high, size):
    return np.asarray(list(itertools.product(range(low, high + 1), repeat=size)), np.float32)


whole_weights = st.integers(-7, 7)


@given(st.data())
@settings(max_examples=10)
def test_what_any_input_reaches_in_any_channel_the_generated_ones_reach(data):
    """With so few inputs all are tried; those that are kept still reach every end, from both sides."""
    bits, signed = data.draw(st.integers(2, 4)), data.draw(st.booleans())
    widths = [2, *data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))]
    weights = [
        np.asarray(data.draw(st.lists(whole_weights, min_size=n * m, max_size=n * m)), np.float32).reshape(
            n, m
        )
        for n, m in itertools.pairwise(widths)
    ]
    scales = [2.0 ** data.draw(st.integers(0, 4)) for _ in weights]
    datatype = DataType[f"{'INT' if signed else 'UINT'}{bits}"]
    model = network(weights, scales, datatype.name)
    every = all_inputs(int(datatype.min()), int(datatype.max()), 2)
    made = levels(generated_inputs(model, "in").stack, weights, scales)
    for possible, found in zip(levels(every, weights, scales), made, strict=True):
        for channel in range(possible.shape[1]):
            assert reached(found[:, channel]) == reached(possible[:, channel])


@pytest.mark.parametrize("seed", range(3))
def test_the_search_reaches_what_any_input_reaches(seed, monkeypatch):
    """Of 4096 inputs 512 are drawn; the others come of changes to those that are nearest."""
    monkeypatch.setattr(search_inputs, "EVERY_VALUES", 0)
    generator = np.random.default_rng(seed)
    weights = [generator.integers(-7, 8, size).astype(np.float32) for size in ((3, 3), (3, 2))]
    scales = [16.0, 4.0]
    model = network(weights, scales, "INT4")
    every = levels(all_inputs(-8, 7, 3), weights, scales)
    inputs = nearest_inputs(model, "in", Range(-8.0, 7.0, True, 1.0)).stack
    for possible, found in zip(every, levels(inputs, weights, scales), strict=True):
        assert reached(found) == reached(possible)


def test_the_search_goes_to_sums_that_no_random_input_has():
    """Of 64 products each at its greatest: random sums stay within a quarter of that."""
    weights, scales = [np.full((64, 1), 7, np.float32)], [8192.0]
    model = network(weights, scales, "INT8")
    (found,) = levels(nearest_inputs(model, "in", Range(-128.0, 127.0, True, 1.0)).stack, weights, scales)
    assert {on for on, _, _ in reached(found)[1:-1]} == {False}
    step = 7 / 8192
    for end, (_, below, above) in zip(range(1 - HALF, HALF), reached(found), strict=True):
        if abs(end - 0.5) * 8192 < 64 * 7 * 127:
            assert end - step <= below < end < above <= end + step


@pytest.mark.parametrize("seed", range(2))
def test_each_end_of_each_channel_of_a_wide_layer_is_reached(seed):
    """A weight of 1 gives each channel every whole number as a sum; 64 inputs of 8 bits are too many to try."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(-7, 8, (64, 16)).astype(np.float32)
    weights[0] = 1
    made = generated_inputs(network([weights], [2048.0], "INT8"), "in")
    (found,) = levels(made.stack, [weights], [2048.0])
    ends = [
        (channel, end)
        for channel, greatest in enumerate(np.abs(weights).sum(axis=0) * 127 / 2048)
        for end in range(1 - HALF, HALF)
        if abs(end - 0.5) < greatest - 1 / 2048
    ]
    assert {(channel, end) for channel, end in ends if end not in found[:, channel]} == set()
    for side in (-1, 1):
        assert {
            (channel, end) for channel, end in ends if end + side / 2048 not in found[:, channel]
        } == set()
    assert (made.missed, made.coverage) == (0, "")


@pytest.mark.parametrize("rows", [1, 3])
def test_thresholds_are_reached_too(rows):
    bounds = np.asarray([[-90, 4, 70]] if rows == 1 else [[-90, 4, 70], [0, 1, 2], [-5, -5, 33]], np.float32)
    weights = np.asarray([[2, -3, 4], [1, 5, -3]], np.float32)
    graph = Graph(1, 2)
    graph.node("MatMul", weights).node("MultiThreshold", bounds, domain=QONNX, out_dtype="UINT2")
    model = graph.model(1, 3, datatype="INT8").transform(InferShapes())
    sums = generated_inputs(model, "in").stack[:, 0] @ weights
    for channel in range(3):
        for bound in bounds[channel % rows]:
            assert {bound - 1, bound, bound + 1} <= set(sums[:, channel])


@pytest.mark.slow
def test_a_scale_of_more_dimensions_than_the_tensor_is_read():
    graph = Graph(1, 2)
    graph.node("MatMul", np.asarray([[2, 1], [4, -1]], np.float32))
    graph.node(
        "Quant",
        np.full((1, 1, 1, 1), 16.0),
        0.0,
        3.0,
        domain=QONNX,
        signed=1,
        narrow=0,
        rounding_mode="ROUND",
    )
    model = graph.model(1, 1, 1, 2, datatype="UINT8").transform(InferShapes())
    sums = {
        float(each) for each in generated_inputs(model, "in").stack[:, 0] @ np.asarray([1, -1], np.float32)
    }
    assert {7, 8, 9, -7, -8, -9} <= sums


@pytest.mark.parametrize("bits", [0.0, -1.0])
def test_a_quantiser_without_bits_has_no_ends(bits):
    model = Graph(1, 2).node("Relu").quant(bits).model(1, 2, datatype="UINT4").transform(InferShapes())
    assert found_nothing(nearest_inputs(model, "in", Range(0.0, 15.0, True, 1.0)))


def test_thresholds_of_which_there_are_none_have_no_ends():
    graph = Graph(1, 2).node("Relu")
    graph.node("MultiThreshold", np.zeros((2, 0), np.float32), domain=QONNX, out_dtype="UINT2")
    model = graph.model(1, 2, datatype="UINT4").transform(InferShapes())
    assert found_nothing(nearest_inputs(model, "in", Range(0.0, 15.0, True, 1.0)))


def test_signs_are_reached_on_both_sides_of_zero():
    graph = Graph(1, 4)
    graph.node("MatMul", np.asarray([[7], [-5], [3], [-1]], np.float32))
    graph.node("BipolarQuant", 1.0, domain=QONNX)
    model = graph.model(1, 1, datatype="INT8").transform(InferShapes())
    sums = set((generated_inputs(model, "in").stack[:, 0] @ np.asarray([7, -5, 3, -1], np.float32)).tolist())
    assert {-1, 0, 1} <= sums


@pytest.mark.parametrize("every", [0, 1 << 30])
def test_with_other_scales_no_value_is_where_rounding_decides(every, monkeypatch):
    """Sums of tenths are halved: every second one is a tie, or would be if a tenth were a float32."""
    monkeypatch.setattr(search_inputs, "EVERY_VALUES", every)
    graph = Graph(1, 3)
    weights = np.asarray([[1], [2], [-3]], np.float32)
    graph.node("MatMul", graph.weights(weights, bits=3, scale=0.1)).quant(BITS, scale=0.2)
    model = graph.model(1, 1, datatype="INT4").transform(InferShapes())
    inputs = nearest_inputs(model, "in", Range(-8.0, 7.0, True, 1.0), exact=False).stack
    sums = set((inputs[:, 0] @ weights)[:, 0].tolist())
    ends = range(-2 * HALF - 1, 2 * HALF)  # of the sums
    assert {each for each in ends if each in sums} == {each for each in ends if each % 2 == 0}


def test_a_network_without_inner_quantisers_or_with_two_inputs_is_not_searched():
    model = Graph(1, 2).node("Relu").quant(3).model(1, 2, datatype="INT4").transform(InferShapes())
    allowed = Range(-8.0, 7.0, True, 1.0)
    assert nearest_inputs(model, "in", allowed).stack.any()
    second = helper.make_tensor_value_info("second", 1, [1, 2])
    model.graph.input.append(second)
    model.graph.node[0].op_type = "Add"
    model.graph.node[0].input.append("second")
    assert found_nothing(nearest_inputs(model, "in", allowed), "the model has 2 inputs")
    plain = Graph(1, 2).quant(3).model(1, 2, datatype="INT4").transform(InferShapes())
    assert found_nothing(nearest_inputs(plain, "in", allowed))


def test_what_is_not_reached_is_said(monkeypatch):
    """Of a search that ends at once."""
    monkeypatch.setattr(search_inputs, "MOST_ROUNDS", 0)
    weights = np.random.default_rng(0).integers(-7, 8, (64, 2)).astype(np.float32)
    made = generated_inputs(network([weights], [1024.0], "INT8"), "in")
    assert 0 < made.missed <= made.thresholds <= 18
    assert (
        made.coverage
        == f"{made.missed} of {made.thresholds} thresholds inside the network not reached exactly"
    )


def test_of_a_large_network_it_is_said_that_nothing_was_searched(monkeypatch):
    monkeypatch.setattr(search_inputs, "MOST_VALUES", 5)
    made = generated_inputs(network([np.ones((2, 2), np.float32)], [1.0], "INT2"), "in")
    assert made.coverage == (
        "thresholds inside the network were not searched: its tensors have 6 elements, and the limit is 5"
    )
