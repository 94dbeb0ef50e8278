"""Products of bits and weights of one bit are counts of equal bits, which thresholds and arg-max take as they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import op_types, same

BITS = np.asarray([[[a, b, c]] for a in (-2, 1) for b in (-1, 0) for c in (-2, 1)], np.float32)


def weights(random, rows, columns, scale):
    return (random.choice([-1.0, 1.0], (rows, columns)) * scale).astype(np.float32)


def with_arg_max(graph):
    """Let a graph end in the place of its largest value."""
    graph.constants.append(numpy_helper.from_array(np.asarray([1], np.int64), "one"))
    graph.nodes.append(helper.make_node("TopK", [graph.tail, "one"], ["most", "places"], name="top", axis=1))
    graph.tail = "places"
    model = graph.model(1, 1, datatype="INT2")
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    return model


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 20), st.integers(1, 4), st.integers(1, 5))
def test_thresholds_rise_by_the_weights_that_are_minus_one_and_counts_compare_as_the_values_do(
    seed, hidden, classes
):
    random = np.random.default_rng(seed)
    graph = Graph(1, 3)
    graph.node("BipolarQuant", 1.0, domain=QONNX)
    graph.node("MatMul", weights(random, 3, hidden, 0.5))
    graph.node("Mul", random.choice([-1.0, 0.25, 2.0], (1, hidden)))  # a falling channel turns its weights
    graph.node("Add", random.integers(-3, 4, (1, hidden)) / 2)
    graph.node("BipolarQuant", 2.0, domain=QONNX)
    graph.node("MatMul", weights(random, hidden, classes, -1.0))
    made = same(with_arg_max(graph), BITS)
    counts = ["XnorPopcountMatMul", "MultiThreshold", "XnorPopcountMatMul", "TopK"]
    assert op_types(made) == ["MultiThreshold", *counts]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda graph: graph.node("Add", [[0.5, 0.25]]),
            "MatMul",
        ),  # what is added decides too: the host compares
        (lambda graph: graph, "XnorPopcountMatMul"),
    ],
)
def test_what_only_the_host_compares_stays_a_sum(change, expected):
    graph = Graph(1, 3)
    graph.node("BipolarQuant", 1.0, domain=QONNX)
    graph.node("MatMul", np.asarray([[1, -1], [1, 1], [-1, -1]], np.float32))
    made = same(with_arg_max(change(graph)), BITS)
    assert op_types(made)[1] == expected
