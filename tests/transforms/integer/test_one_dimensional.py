"""Images of one dimension, as Conv1d has them, keep the scales of their channels wherever they are joined or cut."""

import numpy as np
import pytest
from onnx import numpy_helper
from qonnx.transformation.infer_shapes import InferShapes

from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import op_types, same


def convolved(graph, scale, kernel=1, bits=4):
    """Append a convolution over one dimension, two channels to two, and a quantiser with a scale of each channel."""
    weights = np.random.default_rng(len(graph.nodes)).integers(-3, 4, (2, 2, kernel)).astype(np.float32)
    graph.node("Conv", graph.weights(weights, bits=4, scale=0.3), kernel_shape=[kernel])
    scales = np.asarray(scale, np.float32).reshape(1, -1, 1)
    return graph.node(
        "Quant", scales, 0.0, float(bits), domain=QONNX, signed=1, narrow=0, rounding_mode="ROUND"
    )


def whole(graph, values):
    """Add a constant of integers."""
    name = f"whole{len(graph.constants)}"
    graph.constants.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
    return name


def two_branches(scales=((0.31, 0.77), (1.13, 0.43))):
    graph = Graph(1, 2, 6)
    first = convolved(graph, scales[0]).tail
    graph.tail = "in"
    convolved(graph, scales[1])
    return graph, first


SAMPLES = np.random.default_rng(1).integers(-8, 8, (30, 1, 2, 6)).astype(np.float32)


def behind(graph, channels, length):
    weights = np.random.default_rng(7).integers(-3, 4, (3, channels, 2)).astype(np.float32)
    graph.node("Conv", graph.weights(weights, bits=4), kernel_shape=[2]).quant(4, 1.7)
    return graph.model(1, 3, length - 1, datatype="INT4").transform(InferShapes())


@pytest.mark.slow
def test_joined_along_their_channels():
    graph, first = two_branches()
    graph.node("Concat", first, axis=1)
    made = same(behind(graph, 4, 6), SAMPLES)
    assert op_types(made).count("Transpose") == 2  # of the input and of the output


@pytest.mark.slow
def test_joined_along_their_length():
    graph, first = two_branches(((0.5, 0.75), (0.5, 0.75)))
    graph.node("Concat", first, axis=2)
    same(behind(graph, 2, 12), SAMPLES)


@pytest.mark.slow
def test_added_to_one_another():
    graph, first = two_branches()
    graph.node("Add", first).quant(5, 0.6)
    same(behind(graph, 2, 6), SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [1, 2])
def test_cut(axis):
    graph = Graph(1, 2, 6)
    convolved(graph, (0.31, 0.77))
    starts, ends, axes, steps = ([value] for value in (1, 5, axis, 1)) if axis == 2 else ([0], [1], [1], [1])
    graph.node("Slice", *(whole(graph, each) for each in (starts, ends, axes, steps)))
    channels, length = (2, 4) if axis == 2 else (1, 6)
    same(behind(graph, channels, length), SAMPLES)


@pytest.mark.slow
def test_padded():
    graph = Graph(1, 2, 6)
    convolved(graph, (0.31, 0.77))
    graph.node("Pad", whole(graph, [0, 0, 2, 0, 0, 1]))
    same(behind(graph, 2, 9), SAMPLES)


@pytest.mark.slow
def test_an_input_of_three_axes_whose_parts_get_other_scales():
    graph = Graph(1, 2, 6)
    parts = []
    for at, scale in enumerate((0.71, 1.3)):
        graph.tail = "in"
        graph.node("Slice", *(whole(graph, [each]) for each in (at, at + 1, 1)))
        parts.append(graph.quant(3, scale).tail)
    graph.tail = parts[0]
    graph.node("Concat", parts[1], axis=1)
    same(behind(graph, 2, 6), SAMPLES)
