"""Quantised constants beside weights: biases of 32 bits as Brevitas exports them."""

import numpy as np

from brainsmith.transforms.graph_view import GraphView
from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import op_types, same

INTEGERS = np.arange(-8, 8, dtype=np.float32).reshape(-1, 1, 1)


def bias(graph, values, scale):
    tail, graph.tail = graph.tail, graph.constant(values)
    name = graph.node("Quant", scale, 0.0, 32.0, domain=QONNX, signed=1, narrow=0, rounding_mode="ROUND").tail
    graph.tail = tail
    return name


def test_a_quantised_bias_is_the_numbers_that_it_gives():
    """1.3 in steps of 0.5 is 1.5: the bias counts as it is quantised, in a Gemm and in an Add."""
    graph = Graph(1, 1)
    weights = graph.weights(np.asarray([[1.0, -2.0, 3.0]]))
    graph.node("Gemm", weights, bias(graph, [1.3, -0.7, 4.0], 0.5)).quant(3, 2.0)
    graph.node("Add", bias(graph, [0.2, 0.9, -0.3], 0.25)).quant(3, 0.5)
    made = same(graph.model(1, 3, datatype="INT4"), INTEGERS)
    assert "MultiThreshold" in op_types(made)
    assert not any("_numbers" in name for node in made.graph.node for name in node.input)
    assert GraphView(made).graph.output[0].name == graph.tail
