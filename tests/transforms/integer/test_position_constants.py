"""Constants that differ from row to row, as those of positions do, become thresholds of each value."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.steps.conftest import Graph, integers
from tests.transforms.test_integer_layers import op_types, same

SHAPE = (1, 3, 2)


def positions(seed, shape):
    return (np.random.default_rng(seed).integers(-9, 10, shape) / 4).astype(np.float32)


def samples(seed):
    return np.random.default_rng(seed).integers(-8, 8, (8, *SHAPE)).astype(np.float32)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 1 << 20),
    st.sampled_from(["Add", "Sub", "Mul"]),
    st.sampled_from([(3, 2), (1, 3, 2), (3, 1)]),
)
def test_arithmetic_with_positions_in_front_of_a_quantiser(seed, op_type, shape):
    """A factor of each channel stands in front of it, and one behind it."""
    graph = Graph(*SHAPE)
    graph.node("MatMul", graph.weights(integers(seed, 2, 2))).node("Mul", [0.5, -1.0])
    graph.node(op_type, positions(seed, shape)).node("Mul", [2.0, 0.25]).quant(4, 0.5)
    graph.node("MatMul", graph.weights(integers(seed + 1, 2, 2)))
    same(graph.model(*SHAPE, datatype="INT4"), samples(seed))


def test_at_the_end_they_are_the_hosts():
    graph = Graph(*SHAPE).quant(4, 0.5).node("Mul", [1.0, -2.0])
    graph.node("Add", positions(1, SHAPE)).node("Relu")
    made = same(graph.model(*SHAPE, datatype="INT4"), samples(3))
    assert "Relu" in op_types(made)
