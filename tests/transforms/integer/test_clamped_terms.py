"""A clamp of many levels as terms: their sum is what it gives, for each integer of each channel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.plugins import steps
from brainsmith.transforms.integer.clamped_terms import clamped_terms
from brainsmith.transforms.integer.integer_tensor import IntegerTensor, adding
from brainsmith.transforms.integer.layer_builder import LayerBuilder
from brainsmith.transforms.integer.layer_graph import LayerGraph
from brainsmith.transforms.integer_layers import IntegerLayers
from brainsmith.transforms.lattice.links import ChainLink
from tests.transforms.quantised_nets import Net, kinds

REAL = st.floats(-50, 50).map(lambda value: round(value, 3))


def clamp(low, high):
    node = helper.make_node("Clip", ["x", "low", "high"], ["y"], name="clip")
    return ChainLink(node, "x", lambda x: np.clip(x, low, high), np.ones(1, np.int64), limits=(low, high))


def integers_of(graph, name, numbers):
    """Return what layers make of the integers of a tensor, (channels, numbers)."""
    found = {"x": numbers}
    for layer in graph.layers:
        (given,) = (found[each] for each in layer.node.input)
        constant = layer.constant[:, None] if layer.constant.ndim == 1 else layer.constant[:, :, None]
        if layer.node.op_type == "MultiThreshold":
            result = (given[:, None] >= constant).sum(axis=1)
        else:
            result = {"Max": np.maximum, "Mul": np.multiply}[layer.node.op_type](given, constant)
        found[layer.result] = result
    return found[name]


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.sampled_from([0.7, -0.31, 1.0, -0.25, 0.0, 13.7]), REAL), min_size=1, max_size=3),
    st.one_of(st.just((0.0, np.inf)), st.tuples(REAL, REAL).map(lambda ends: tuple(sorted(ends)))),
    st.tuples(st.integers(-60, 60), st.integers(0, 80)),
    REAL,
)
def test_the_sum_of_the_terms_is_the_clamped_value_within_the_range_that_is_stated(
    channels, limits, ends, added
):
    scale, offset = (np.asarray(each) for each in zip(*channels, strict=True))
    low, high = (np.full(len(channels), end) for end in (ends[0], sum(ends)))
    graph = LayerGraph()
    links = (clamp(*limits), adding(helper.make_node("Add", ["y", "c"], ["z"]), np.asarray([added]), -1))
    tensor = IntegerTensor("x", (1, len(channels)), IntegerRange(low, high), scale, offset, links)
    terms = clamped_terms(LayerBuilder(graph), tensor, "clip")
    if terms is None:
        assert limits[1] - limits[0] < np.abs(scale).max()  # no integer between the limits
        return
    numbers = np.broadcast_to(np.arange(low[0], high[0] + 1), (len(channels), high[0] - low[0] + 1))
    total = np.zeros(numbers.shape)
    for term in terms:
        held = integers_of(graph, term.name, numbers)
        assert (held >= term.range.low[:, None]).all()
        assert (held <= term.range.high[:, None]).all()
        total += held * term.scale[:, None] + term.offset[:, None]
    values = np.clip(scale[:, None] * numbers + offset[:, None], *limits) + np.float32(added)
    assert np.abs(total - values).max() < 1e-6


def branch(factor, op_type="Add"):
    """Return a network whose ReLU of many levels joins a branch of 4 bits without a quantiser between."""
    net = Net(1, 8, datatype="INT8")
    weights = np.random.default_rng(3).integers(-7, 8, (8, 8))
    net.node("MatMul", net.weights(weights, 1.0, 4), shape=[1, 8]).node("Mul", factor, shape=[1, 8])
    clamped = net.node("Relu", shape=[1, 8]).tail
    net.tail = "x"
    return net.node(op_type, clamped, shape=[1, 8]).quant(16.0, bits=8)


@pytest.mark.parametrize("op_type", ["Add", "Sub"])
@pytest.mark.parametrize("factor", [1.0, -0.5, 0.3137, np.linspace(-1, 1.3, 8)[None]])
def test_a_relu_of_many_levels_joins_a_sum_without_a_quantiser(factor, op_type):
    model = branch(factor, op_type).model()
    made = steps.cleanup(model, None).transform(IntegerLayers())
    assert "Max" in kinds(made)
    random = np.random.default_rng(0)
    frames = [*random.integers(-128, 128, (40, 1, 8)), np.full((1, 8), -128), np.full((1, 8), 127)]
    made = made.transform(InferShapes())
    for frame in frames:
        given = {"x": frame.astype(np.float32)}
        (expected,), (found,) = (execute_onnx(each, given).values() for each in (model, made))
        assert (found == expected).all()
