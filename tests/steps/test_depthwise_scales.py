"""Scales of channels move behind depthwise convolutions, and these become hardware."""

import numpy as np
import pytest

from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.steps.depthwise_scales import scales_past_depthwise
from tests.steps.conftest import Graph, integers, op_types

SCALE = 2.0 ** np.arange(-1, 2).reshape(1, 3, 1, 1)


def compute(model):
    executor = Executor(model)
    pixels = integers(11, 16, *executor.shape(executor.inputs[0]))
    return executor.run({executor.inputs[0]: pixels})[executor.outputs[0]]


def scaled(*factors, channels=3, group=3, bias=False):
    """Return a padded convolution behind multiplications."""
    graph = Graph(1, 3, 4, 4)
    for factor in factors:
        graph.node("Mul", factor)
    others = [integers(2, channels)] if bias else []
    weights = integers(1, channels, 3 // group, 3, 3)
    graph.node("Conv", weights, *others, kernel_shape=[3, 3], pads=[1] * 4, group=group)
    return graph.model(1, channels, 4, 4)


@pytest.mark.parametrize("factors", [(SCALE,), (SCALE, -SCALE)])
def test_scales_of_channels_move_behind(factors):
    model = scaled(*factors)
    expected = compute(model)
    assert scales_past_depthwise(model)
    assert op_types(model) == ["Conv", *["Mul"] * len(factors)]
    assert model.get_tensor_datatype("in").name == "INT8"
    np.testing.assert_array_equal(compute(model), expected)
    assert not scales_past_depthwise(model)


@pytest.mark.parametrize(
    "model",
    [
        scaled(np.float32(2.0)),  # FINN's transform moves it
        scaled(np.ones((1, 3, 4, 4))),
        scaled(SCALE, group=1),
        scaled(SCALE, channels=6),
        scaled(SCALE, bias=True),
    ],
)
def test_what_does_not_move_stays(model):
    before = model.model.SerializeToString(deterministic=True)
    assert not scales_past_depthwise(model)
    assert model.model.SerializeToString(deterministic=True) == before


def test_a_scale_that_others_read_stays():
    model = scaled(SCALE)
    model.graph.output.add(name=model.graph.node[0].output[0])
    assert not scales_past_depthwise(model)


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_a_quantiser_with_a_scale_for_each_channel_stands_in_front(config, pooled):
    graph = Graph(1, 3, 8, 8)
    graph.node(
        "Quant", SCALE, 0.0, 4.0, domain="qonnx.custom_op.general", signed=1, narrow=0, rounding_mode="ROUND"
    )
    if pooled:
        graph.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    graph.node("Conv", graph.weights(integers(1, 3, 1, 3, 3)), kernel_shape=[3, 3], pads=[1] * 4, group=3)
    size = 4 if pooled else 8
    model = graph.node("Add", integers(2, 1, 3, 1, 1) + 0.125).quant(4, scale=16.0).model(1, 3, size, size)
    expected = compute(model)
    for name in ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize"):
        model = steps[name](model, config)
        np.testing.assert_array_equal(compute(model), expected, name)
    kinds = op_types(model)
    assert kinds.count("EmbeddedVVAU_rtl") == 1
    assert "Mul" not in kinds[:-1]
