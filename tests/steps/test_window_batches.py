"""Windows slide over one image: a batch of several is refused with the node."""

import pytest

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from tests.steps.conftest import Graph, integers


@pytest.mark.parametrize("kind", ["Conv", "MaxPool", "AveragePool"])
def test_a_batch_of_several_images_is_refused(config, kind):
    graph = Graph(3, 2, 4, 4).quant(4)
    weights = [graph.weights(integers(1, 2, 2, 2, 2))] if kind == "Conv" else []
    model = graph.node(kind, *weights, kernel_shape=[2, 2]).quant(4).model(3, 2, 3, 3)
    for step in (steps.cleanup, steps.qonnx_to_finn):
        model = step(model, config)
    with pytest.raises(ModelError) as caught:
        steps.streamline(model, config)
    assert str(caught.value) == (
        f"node '{kind}_0' ({kind}) reads a batch of 3 images, and its windows slide over one at a time\n"
        "  export the model with a batch of 1: the circuit takes one image after the other"
    )


@pytest.mark.parametrize(
    ("axes", "text"),
    [
        (
            1,
            "slides over 1 dimension, and layers slide over 2\n  give the model a second dimension, of length 1: inputs "
            "of (1, channels, length, 1), kernels of (k, 1)",
        ),
        (3, "slides over 3 dimensions, and layers slide over 2"),
    ],
)
def test_windows_over_one_or_three_dimensions_are_refused(config, axes, text):
    graph = Graph(1, 2, *[4] * axes).quant(4)
    weights = graph.weights(integers(1, 2, 2, *[2] * axes))
    model = graph.node("Conv", weights, kernel_shape=[2] * axes).quant(4).model(1, 2, *[3] * axes)
    model = steps.cleanup(model, config)
    with pytest.raises(ModelError) as caught:
        steps.qonnx_to_finn(model, config)
    assert str(caught.value) == f"node 'conv2' (Conv) {text}"
