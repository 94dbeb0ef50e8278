"""Any function of integers is what rises by thresholds plus what falls by others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.graph.integer_range import within
from brainsmith.transforms.integer.level_runs import LevelRuns
from brainsmith.transforms.integer.signed_steps import signed_steps
from tests.steps.conftest import Graph
from tests.transforms.test_integer_layers import layers, op_types, run, same


def count(rows, channel, number):
    """Count, one by one, the thresholds that an integer reaches."""
    at = channel % len(rows.rows)
    turned = number * int(rows.signs[channel % len(rows.signs)])
    return rows.low + sum(int(threshold) <= turned for threshold in rows.rows[at])


@settings(deadline=None, max_examples=100)
@given(st.data(), st.integers(1, 3), st.integers(1, 9), st.integers(-20, 20))
def test_the_two_layers_add_up_to_every_level(data, channels, integers, low):
    row = st.lists(st.integers(-4, 4), min_size=integers, max_size=integers)
    levels = np.asarray([data.draw(row) for _ in range(channels)])
    if data.draw(st.booleans()):  # each channel only rises, or only falls
        levels = np.sort(levels, axis=1)
        levels[::2] = levels[::2, ::-1]
    numbers = np.arange(low, low + integers)
    found = signed_steps([LevelRuns.of(numbers, row) for row in levels], within(low, low + integers - 1))
    for channel in range(channels):
        for at in range(integers):
            parts = [rows for rows in (found.rising, found.falling) if rows is not None]
            assert sum(count(rows, channel, low + at) for rows in parts) == levels[channel, at]
    np.testing.assert_array_equal(found.range.low, levels.min(axis=1))
    np.testing.assert_array_equal(found.range.high, levels.max(axis=1))


def silu(graph):
    x = graph.tail
    graph.node("Sigmoid")
    return graph.node("Mul", x)


def gelu(graph):
    x = graph.tail
    graph.node("Div", 1.4142135).node("Erf").node("Add", 1.0)
    return graph.node("Mul", x).node("Mul", 0.5)


def square(graph):
    return graph.node("Mul", graph.tail)


FUNCTIONS = {
    "silu": silu,
    "gelu": gelu,
    "square": square,
    "abs": lambda graph: graph.node("Abs"),
    "power": lambda graph: graph.node("Pow", 3.0),
    "hard swish": lambda graph: graph.node("HardSwish"),
    "one over": lambda graph: graph.node("Add", 8.5).node("Reciprocal"),
    "cosine, falling LeakyRelu": lambda graph: graph.node("Cos").node("LeakyRelu", alpha=-0.5),
}
EVERY = np.arange(-8, 8, dtype=np.float32).reshape(-1, 1, 1)


def behind_integers(function, datatype="INT4"):
    graph = Graph(1, 1)
    graph.node("MatMul", graph.weights(np.asarray([[1.0, -2.0, 1.0]]), bits=3, scale=0.4))
    graph.node("Add", [[0.1, -0.3, 0.0]])
    return function(graph)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_rises_and_falls_becomes_thresholds(name):
    graph = behind_integers(FUNCTIONS[name]).quant(4, 0.13)
    made = same(graph.model(1, 3, datatype="INT4"), EVERY)
    assert set(op_types(made)) <= {"MatMul", "MultiThreshold", "Add", "Mul", "Identity"}


@pytest.mark.slow
def test_bits_of_a_function_that_rises_and_falls():
    graph = behind_integers(silu).node("Add", 0.2)
    graph.node("BipolarQuant", 0.7, domain="qonnx.custom_op.general")
    same(graph.model(1, 3, datatype="INT4"), EVERY)


@pytest.mark.slow
def test_a_function_in_front_of_a_product_needs_no_quantiser_if_its_results_have_a_unit():
    graph = Graph(1, 2).quant(4, 0.3).node("Abs")
    graph.node("MatMul", graph.weights(np.asarray([[3.0], [-2.0]]))).quant(5, 0.41)
    samples = np.asarray([[[a, b]] for a in range(-4, 4) for b in (-3, 0, 2)], np.float32)
    made = same(graph.model(1, 1, datatype="INT4"), samples)
    assert op_types(made).count("MatMul") == 1


@pytest.mark.parametrize("op_type", ["Relu", "LeakyRelu"])
def test_a_branch_without_a_quantiser_joins_a_sum(op_type):
    graph = Graph(1, 2)
    first = graph.quant(4, 0.3).tail
    graph.tail = "in"
    graph.node("MatMul", graph.weights(np.eye(2), bits=2)).quant(3, 0.7)
    graph.node(op_type, **({"alpha": 0.125} if op_type == "LeakyRelu" else {}))
    graph.node("Add", first).quant(3, 1.1)
    samples = np.asarray([[[a, b]] for a in range(-8, 8) for b in (-3, 0, 2)], np.float32)
    same(graph.model(1, 2, datatype="INT4"), samples)


@pytest.mark.slow
def test_the_host_computes_a_function_that_no_quantiser_follows():
    model = behind_integers(gelu).model(1, 3, datatype="INT4")
    np.testing.assert_allclose(run(layers(model), EVERY), run(model, EVERY), rtol=1e-6, atol=1e-6)


def test_a_function_of_other_integers_is_refused():
    graph = Graph(1, 2)
    first = graph.quant(4, 0.3).tail
    graph.tail = "in"
    graph.quant(4, 0.7).node("Max", first).quant(4)
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, 2, datatype="INT8"))
    assert str(caught.value) == (
        "no integer layers for node 'max2' (Max): it joins values whose scales, or zero points, have no common unit: "
        "quantise them with one scale before it"
    )
