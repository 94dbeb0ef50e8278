"""Zeros around values of which none is 0: -1 and 1, values half-way between whole numbers, a channel that is constant."""

import numpy as np
import pytest
from onnx import numpy_helper

from brainsmith.errors import ModelError
from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import layers, same


def padded(graph, channels, results=3):
    """Add a convolution with zeros around the image, and a quantiser."""
    weights = np.random.default_rng(3).integers(-7, 8, (results, channels, 2, 2)).astype(np.float32)
    graph.node("Conv", graph.weights(weights), kernel_shape=[2, 2], pads=[1, 0, 1, 1], strides=[1, 1])
    return graph.quant(3, 0.5)


def signs(scale=0.5):
    graph = Graph(1, 2, 3, 3)
    return graph.node("BipolarQuant", scale, domain=QONNX)


FLOATS = np.random.default_rng(0).normal(size=(12, 1, 2, 3, 3)).astype(np.float32)
INTEGERS = np.random.default_rng(0).integers(-8, 8, (12, 1, 2, 3, 3)).astype(np.float32)


def test_zeros_around_the_signs_of_a_float_input():
    made = same(padded(signs(), 2).model(1, 3, 4, 3, datatype="FLOAT32"), FLOATS)
    assert {"Mul", "Add", "Im2Col"} <= {node.op_type for node in made.graph.node}


@pytest.mark.parametrize("value", [0.0, 0.25, -0.5])
def test_a_pad_of_signs_with_a_value_between_them(value):
    graph = signs()
    pads = graph.constant([0.0] * 8)
    graph.constants[-1].CopyFrom(numpy_helper.from_array(np.asarray([0, 0, 1, 0, 0, 0, 0, 2]), pads))
    graph.node("Pad", pads, value, mode="constant").quant(3, 0.25)
    same(graph.model(1, 2, 4, 5, datatype="FLOAT32"), FLOATS)


def test_zeros_around_values_half_way_between_whole_numbers():
    graph = Graph(1, 2, 3, 3).node("Add", [[[0.5]], [[0.25]]])
    same(padded(graph, 2).model(1, 3, 4, 3, datatype="INT4"), INTEGERS)


@pytest.mark.parametrize("constant", [1.0, -2.0, 0.5])
def test_zeros_around_a_channel_that_is_constant(constant):
    graph = Graph(1, 2, 3, 3).node("Mul", [[[0.5]], [[0.0]]]).node("Add", [[[0.0]], [[constant]]])
    same(padded(graph, 2).model(1, 3, 4, 3, datatype="INT4"), INTEGERS)


def test_values_that_no_part_of_the_scale_gives_are_refused():
    graph = Graph(1, 2, 3, 3).node("Add", 0.3)
    with pytest.raises(ModelError) as caught:
        layers(padded(graph, 2).model(1, 3, 4, 3, datatype="INT4"))
    assert str(caught.value) == (
        "no integer layers for node 'conv2' (Conv): it pads with 0, which is not one of its input's possible values: pad "
        "with a whole number times the scale, or quantise with the zero point 0 before it"
    )
