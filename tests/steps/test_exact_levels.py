"""The law of the front end: every integer that comes in gives the level that QONNX gives, up to the hardware layers."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from tests.steps.conftest import QONNX, Graph

MODES = ("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")


def run(model, stack):
    executor = Executor(model)
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]].reshape(len(stack), -1)


def hardware(model, config):
    for name in ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference"):
        model = steps[name](model, config)
    return model


def every_integer(low, high, places):
    numbers = np.arange(low, high + 1, dtype=np.float32)
    return np.repeat(numbers[:, None], places, axis=1)[:, None, :]


@pytest.mark.parametrize(
    "mode", [*MODES[:2], *(pytest.param(mode, marks=pytest.mark.slow) for mode in MODES[2:])]
)
def test_sums_of_int5_halved_to_4_bits_have_no_wrong_value(config, mode):
    """With FINN's own conversion 32 of 124 of these were wrong."""
    graph = Graph(1, 1)
    graph.node("MatMul", graph.weights(np.asarray([[1.0, -1.0, 3.0, 2.0]]), bits=4))
    graph.node("Quant", 2.0, 0.0, 4.0, domain=QONNX, signed=1, narrow=0, rounding_mode=mode)
    model = graph.model(1, 4, datatype="INT5")
    stack = every_integer(-16, 15, 1)
    expected = run(model, stack)
    if mode == "ROUND":
        assert expected[1, 0] == -16  # of -15: -7.5 goes to the even one
    built = hardware(model, config)
    np.testing.assert_array_equal(run(built, stack), expected)


@pytest.mark.builds
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_every_integer_gives_qonnxs_level_in_the_hardware_layers_or_is_refused(config, data):
    scales = st.builds(lambda power, sign: sign * 2.0**power, st.integers(-3, 4), st.sampled_from([1, -1]))
    bits = data.draw(st.integers(1, 6))
    signed = data.draw(st.integers(0, 1))
    narrow = data.draw(st.integers(0, 1)) if bits > 1 else 0
    channels = data.draw(st.booleans())
    graph = Graph(1, 2)
    weights = np.asarray(data.draw(st.lists(st.integers(-7, 7), min_size=6, max_size=6)), np.float32).reshape(
        2, 3
    )
    graph.node("MatMul", graph.weights(weights, scale=data.draw(scales)))
    if data.draw(st.booleans()):
        graph.node("Mul", [data.draw(scales) for _ in range(3)]).node(
            "Add", [data.draw(scales) for _ in range(3)]
        )
    if data.draw(st.booleans()):
        graph.node("Relu")
    scale = [data.draw(scales) for _ in range(3)] if channels else data.draw(scales)
    zero, mode = float(data.draw(st.integers(-3, 3))), data.draw(st.sampled_from(MODES))
    graph.node(
        "Quant", scale, zero, float(bits), domain=QONNX, signed=signed, narrow=narrow, rounding_mode=mode
    )
    kind, low, high = data.draw(st.sampled_from([("INT5", -16, 15), ("UINT4", 0, 15), ("INT3", -4, 3)]))
    model = graph.model(1, 3, datatype=kind)
    numbers = np.arange(low, high + 1, dtype=np.float32)
    stack = np.stack(np.meshgrid(numbers, numbers), axis=-1).reshape(-1, 1, 2)
    expected = run(model, stack)
    try:
        built = hardware(model, config)
    except ModelError as error:
        assert "no kernel supports them" in str(error)
        return
    np.testing.assert_array_equal(run(built, stack), expected)
