"""Products of two computed matrices, Softmax and LayerNormalization become layers that compute what the network does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import layers, op_types, run, same

TOKENS, CHANNELS = 3, 4


def samples(shape, count=12, low=-8, high=8):
    return np.random.default_rng(0).integers(low, high, (count, *shape)).astype(np.float32)


def head(graph, source, seed, scale=0.5):
    """Project tokens, with a quantiser behind a bias."""
    rng = np.random.default_rng(seed)
    graph.tail = source
    graph.node(
        "MatMul", graph.weights(rng.integers(-3, 4, (CHANNELS, CHANNELS)).astype(np.float32), scale=0.25)
    )
    graph.node("Add", rng.integers(-2, 3, CHANNELS) * 0.25)
    return graph.quant(4, scale).tail


def attention(heads):
    """Self-attention of tokens; heads are an axis of their own, or there is one only."""
    graph = Graph(1, TOKENS, CHANNELS)
    graph.quant(4)
    source = graph.tail
    parts = []
    for at, order in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])):
        graph.tail = head(graph, source, at)
        if heads == 1:
            parts.append(graph.tail if at != 1 else graph.node("Transpose", perm=[0, 2, 1]).tail)
        else:
            graph.node("Reshape", shape_of(graph, [1, TOKENS, heads, CHANNELS // heads]))
            parts.append(graph.node("Transpose", perm=order).tail)
    query, key, value = parts
    graph.tail = query
    graph.node("MatMul", key).node("Mul", 0.5).node("Softmax", axis=-1)
    graph.node("Quant", 1 / 16, 0.0, 4.0, domain=QONNX, signed=0, narrow=0, rounding_mode="ROUND")
    graph.node("MatMul", value)
    if heads > 1:
        graph.node("Transpose", perm=[0, 2, 1, 3]).node("Reshape", shape_of(graph, [1, TOKENS, CHANNELS]))
    return graph.quant(4, 0.5).model(1, TOKENS, CHANNELS, datatype="INT4")


def shape_of(graph, shape):
    from onnx import numpy_helper

    name = f"shape{len(graph.constants)}"
    graph.constants.append(numpy_helper.from_array(np.asarray(shape, np.int64), name))
    return name


@pytest.mark.parametrize("heads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_attention_is_products_of_integers_and_one_softmax(heads):
    made = same(attention(heads), samples((1, TOKENS, CHANNELS)))
    assert op_types(made).count("Softmax") == 1
    assert op_types(made).count("MatMul") == 5


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.booleans(), st.integers(0, 1 << 16))
def test_a_product_of_two_computed_matrices(rows, depth, columns, narrow, seed):
    graph = Graph(1, rows, depth)
    left = graph.node("Neg").quant(4, 0.3).tail
    graph.tail = "in"
    graph.node("Transpose", perm=[0, 2, 1])
    weights = np.random.default_rng(seed).integers(-3, 4, (rows, columns)).astype(np.float32)
    right = graph.node("MatMul", graph.weights(weights)).quant(5, 0.7, narrow=int(narrow)).tail
    graph.tail = left
    model = graph.node("MatMul", right).model(1, rows, columns, datatype="INT4")
    given_ = samples((1, rows, depth), 3)
    expected = []
    for sample in given_:
        first = np.clip(np.round(-sample[0] / np.float32(0.3)), -8, 7)
        second = np.round((sample[0].T @ weights) / np.float32(0.7))
        second = np.clip(second, -15 if narrow else -16, 15)
        expected.append([0.3 * 0.7 * (first @ second)])
    np.testing.assert_allclose(run(layers(model), given_), expected, rtol=1e-5, atol=1e-5)


def normalised(channels=CHANNELS):
    graph = Graph(1, TOKENS, channels).quant(4, 0.5)
    scale, bias = np.linspace(0.5, 2, channels), np.linspace(-1, 1, channels)
    return graph.node("LayerNormalization", scale, bias, axis=-1, epsilon=1e-5)


@pytest.mark.parametrize("quantised", [True, False])
def test_a_normalisation_gets_floats_of_integers_and_thresholds_behind(quantised):
    graph = normalised()
    if quantised:
        graph.node("Mul", np.linspace(0.25, 1, CHANNELS)).quant(3, 0.5)
    made = same(graph.model(1, TOKENS, CHANNELS, datatype="INT4"), samples((1, TOKENS, CHANNELS)))
    assert op_types(made).count("LayerNormalization") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda graph: graph.node("Softmax", axis=1).quant(4),
            "no integer layers for node 'quant2' (Quant): it gets floats: node 'softmax1' (Softmax) stays on the host: it "
            "computes along another axis than the last: transpose what goes into it",
        ),
        (
            lambda graph: graph.node("Softmax", axis=-1).node("MatMul", graph.weights(np.eye(CHANNELS))),
            "no integer layers for node 'matmul3' (MatMul): it gets floats of node 'softmax1' (Softmax): put a quantiser "
            "between them",
        ),
        (
            lambda graph: graph.node("Softmax", axis=-1).node("Neg").quant(4),
            "no integer layers for node 'quant3' (Quant): a factor below 0 lies between the function and its quantiser: "
            "use a factor above 0 there",
        ),
    ],
)
def test_what_has_no_layers_is_refused(change, message):
    graph = Graph(1, TOKENS, CHANNELS).quant(4, 0.5)
    change(graph)
    with pytest.raises(ModelError) as caught:
        layers(graph.model(1, TOKENS, CHANNELS, datatype="INT4"))
    assert str(caught.value) == message
