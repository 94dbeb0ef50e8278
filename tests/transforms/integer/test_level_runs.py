"""Levels of functions of too many integers to be tried are those that trying them gives."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.transforms.integer import layer_builder, level_runs
from brainsmith.transforms.integer.float_bounds import bounds_behind
from tests.steps.conftest import QONNX, Graph
from tests.transforms.integer.test_signed_steps import FUNCTIONS
from tests.transforms.test_integer_layers import layers, run

MORE = {
    **FUNCTIONS,
    "hard swish of two nodes": lambda graph: graph.node("Mul", graph_with("HardSigmoid", graph)),
    "mish": lambda graph: graph.node("Mish"),
    "gelu of one node": lambda graph: graph.node("Gelu"),
    "one over the square": lambda graph: FUNCTIONS["square"](graph).node("Add", 1.0).node("Reciprocal"),
    "divided by what is never 0": lambda graph: graph.node("Div", graph_with("Sigmoid", graph)),
    "greater": lambda graph: graph.node("Max", graph_with("Sigmoid", graph)),
    "lesser": lambda graph: graph.node("Min", graph_with("Sigmoid", graph)),
    "less a half": lambda graph: graph.node("Sub", graph_with("Sigmoid", graph)),
}
PROVEN = [
    name
    for name in MORE
    if name not in ("power", "cosine, falling LeakyRelu", "one over", "one over the square")
]


def graph_with(op_type, graph):
    """Compute a function beside the path of a graph; return its tensor."""
    x = graph.tail
    found = graph.node(op_type).tail
    graph.tail = x
    return found


def network(name, bits, scale, datatype, count=4096):
    """A row of integers, a function of each, and a quantiser."""
    graph = Graph(1, count)
    graph.node("Mul", scale).node("Add", 0.31)
    model = MORE[name](graph).quant(bits, 0.37).model(1, count, datatype=datatype)
    if name in ("mish", "gelu of one node"):
        model.model.opset_import[0].version = 20
    return model


@pytest.mark.parametrize("name", PROVEN)
@settings(deadline=None, max_examples=8)
@given(data=st.data())
def test_intervals_give_what_every_integer_gives(name, data):
    scale = data.draw(st.floats(1e-3, 0.5).map(np.float32)) * data.draw(st.sampled_from([-1, 1]))
    bits = data.draw(st.integers(2, 6))
    model = network(name, bits, float(scale), "INT12")
    every = np.arange(-(2**11), 2**11, dtype=np.float32).reshape(1, 1, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(level_runs, "MOST_TABLED", 1)
        made = layers(model)
    np.testing.assert_array_equal(run(made, every), run(model, every))


@pytest.mark.parametrize("name", ["silu", "gelu", "hard swish", "mish"])
def test_a_function_of_30_bits_has_its_levels(name):
    model = network(name, 4, 2.0**-26, "INT30")
    random = np.random.default_rng(0)
    samples = random.integers(-(2**29), 2**29, 4096).astype(np.float32).reshape(1, 1, -1)
    np.testing.assert_array_equal(run(layers(model), samples), run(model, samples))


def test_a_function_that_is_0_far_and_wide_is_decided_beside_0():
    graph = Graph(1, 4096).node("Mul", 2.0**-20)
    graph.node("Mul", graph_with("HardSigmoid", graph)).node("BipolarQuant", 1.0, domain=QONNX)
    model = graph.model(1, 4096, datatype="INT30")
    samples = np.random.default_rng(0).integers(-(2**29), 2**29, 4096).astype(np.float32).reshape(1, 1, -1)
    np.testing.assert_array_equal(run(layers(model), samples), run(model, samples))


def test_what_has_no_bounds_is_not_divided_without_end():
    graph = Graph(1, 1).node("Cos").quant(4)
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, 1, datatype="INT24"))
    assert str(caught.value) == (
        "no integer layers for node 'quant1' (Quant): Cos 'cos0' before it: a function of 16777216 different "
        "integers, and no more than 1048576 are tried: put a quantiser before it"
    )


@cache
def pending(name):
    """Return the operators that are pending before a quantiser."""
    seen, levels = [], layer_builder.tabled_levels

    def noted(tensor, staircase):
        seen.append(tensor.links)
        return levels(tensor, staircase)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer_builder, "tabled_levels", noted)
        layers(network(name, 4, 0.5, "INT4"))
    return seen[0]


@pytest.mark.parametrize("name", PROVEN)
@settings(deadline=None, max_examples=20)
@given(ends=st.tuples(st.floats(-50, 50, width=32), st.floats(0, 3, width=32)), seed=st.integers(0, 99))
def test_bounds_hold_what_lies_between(name, ends, seed):
    low = np.float32(ends[0])
    high = np.float32(low + np.float32(ends[1]))
    links = pending(name)
    between = np.random.default_rng(seed).uniform(low, high, (1, 200)).astype(np.float32)
    between = np.clip(between, low, high)
    least, most = bounds_behind(links, (low.reshape(1, 1), high.reshape(1, 1)))
    values = between
    for link in links:
        values = link.apply(values)
    assert np.where(np.isnan(least), True, values >= least).all()
    assert np.where(np.isnan(most), True, values <= most).all()
