"""A tail of the host that is more than element-wise is a warning, and scales and layouts are none."""

import logging

import numpy as np
import pytest

from brainsmith.plugins import steps
from brainsmith.steps.host_work import warn_of_host_work
from tests.steps.conftest import Graph

MORE = (
    "the host computes node 'softmax2' (Softmax), node 'topk3' (TopK), which is more than one operation for each value: "
    "rate, latency and resources do not count it; put a quantiser after it, so that layers compute it where its operators "
    "have layers"
)


def network():
    graph = Graph(1, 4).quant(4)
    return graph.node("MatMul", graph.weights(np.eye(4))).node("Mul", 0.3).node("Softmax", axis=-1)


def warned(model, is_hardware, caplog):
    caplog.clear()
    with caplog.at_level(logging.WARNING, "brainsmith.steps.host_work"):
        warn_of_host_work(model, is_hardware)
    return [record.getMessage() for record in caplog.records]


def test_more_than_scales_and_layouts_is_a_warning(caplog):
    graph = Graph(1, 4).node("Relu").node("Mul", 0.5).node("Softmax", axis=-1).node("TopK")
    model = graph.model(1, 4)
    assert warned(model, lambda node: node.op_type == "Relu", caplog) == [MORE]
    assert warned(model, lambda node: node.op_type != "Mul", caplog) == []
    assert warned(model, lambda node: False, caplog) == []


@pytest.mark.slow
def test_the_step_says_so(config, caplog):
    model = steps.integer(steps.cleanup(network().model(1, 4, datatype="INT8"), config), config)
    with caplog.at_level(logging.WARNING, "brainsmith.steps.host_work"):
        steps.hardware_inference(model, config)
    (said,) = (record.getMessage() for record in caplog.records if record.name.startswith("brainsmith."))
    assert said.startswith(
        "the host computes node 'Softmax_0' (Softmax), which is more than one operation for each"
    )
