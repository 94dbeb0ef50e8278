"""integer: networks that nobody chose become layers of integers, hardware and circuits that compute the same."""

import logging

import numpy as np
import pytest
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from tests.hunt.judge import REFUSED, RIGHT, RTL_BLUEPRINT, judge
from tests.hunt.networks import random_network
from tests.steps.conftest import QONNX, Graph, digits_model, hardware, op_types, streamlined


def run(model, sample):
    return execute_onnx(model, {model.graph.input[0].name: sample})[model.graph.output[0].name]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15, 45))
def test_layers_of_a_random_network_are_right_or_refused(seed, tmp_path):
    verdict = judge(random_network(seed), "estimates", tmp_path)
    assert verdict.kind == RIGHT or (verdict.kind == REFUSED and verdict.text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8])
def test_a_circuit_of_a_random_network_is_right(seed, tmp_path):
    verdict = judge(random_network(seed), "simulated", tmp_path, blueprint=RTL_BLUEPRINT)
    assert (verdict.kind, verdict.text) == (RIGHT, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "named"),
    [
        (
            lambda config: streamlined(digits_model("cnn"), config),
            "2 MultiThreshold, 2 Im2Col, 2 MaxPoolNHWC",
        ),
        (lambda config: hardware(digits_model("mlp"), config), "3 Thresholding, 3 MVAU"),
    ],
)
def test_a_model_that_is_lowered_already_stays_as_it_is_and_the_step_says_so(made, named, config, caplog):
    model = made(config)
    before = model.model.SerializeToString(deterministic=True)
    with caplog.at_level(logging.INFO, "brainsmith.steps.integer"):
        after = steps.integer(model, config)
    assert after.model.SerializeToString(deterministic=True) == before
    (record,) = caplog.records
    counted = sorted(record.getMessage().partition("(")[2].rstrip(")").split(", "))
    assert record.getMessage().startswith(
        "nothing to do: the model has no quantisers, and is lowered to layers already ("
    )
    assert counted == sorted(named.split(", "))


def test_thresholds_of_finns_front_are_read_like_quantisers(config):
    """A model behind qonnx_to_finn still has its scales between the layers."""
    model = steps.qonnx_to_finn(steps.cleanup(digits_model("mlp"), config), config)
    made = steps.integer(model, config)
    assert op_types(made)[:6] == ["MultiThreshold", "MatMul"] * 3
    samples = np.random.default_rng(0).integers(0, 17, (5, 1, 64)).astype(np.float32)
    for sample in samples:
        np.testing.assert_array_equal(run(made, sample), run(model, sample))


@pytest.mark.parametrize(("scale", "bias"), [(1.0, -3.0), (0.5, 1.0), (2.0, -1.0), (1.0, 0.0), (0.25, -0.75)])
def test_levels_of_thresholds_times_a_scale(scale, bias, config):
    graph = Graph(1, 3)
    rows = [[1.0]] if scale == 2 else [[-3.0, 1.0, 4.0], [-9.0, 0.0, 20.0], [2.0, 2.0, 3.0]]
    graph.node(
        "MultiThreshold",
        rows,
        domain=QONNX,
        out_dtype="INT32",
        out_scale=scale,
        out_bias=bias,
        data_layout="NC",
    )
    weights = graph.weights(np.asarray([[1.0, -1.0], [2.0, 1.0], [-3.0, 3.0]]), bits=4)
    graph.node("MatMul", weights).quant(4, 0.5)
    model = steps.cleanup(graph.model(1, 2, datatype="INT4"), config)
    made = steps.integer(model, config)
    assert op_types(made)[:2] == ["MultiThreshold", "MatMul"]
    for value in range(-8, 8):
        sample = np.asarray([[value, -value - 1, value // 2]], np.float32)
        np.testing.assert_array_equal(run(made, sample), run(model, sample))


def test_thresholds_with_values_of_no_one_scale_are_refused(config):
    graph = Graph(1, 3)
    graph.node("MultiThreshold", [[1.0, 2.0]], domain=QONNX, out_dtype="INT8", out_scale=1.0, out_bias=0.5)
    with pytest.raises(ModelError) as caught:
        steps.integer(graph.model(1, 3, datatype="INT4"), config)
    assert str(caught.value) == (
        "no integer layers for node 'multithreshold0' (MultiThreshold): its values, 1 times its levels plus 0.5, are not "
        "whole numbers of a scale above 0: make out_bias a whole number times out_scale, which is above 0"
    )


def test_a_model_without_quantisers_is_refused_with_what_to_do(config):
    graph = Graph(1, 2)
    graph.node("MatMul", np.asarray([[0.3, 0.71], [0.11, -0.5]])).node("Relu")
    graph.node("MatMul", np.asarray([[0.3, 0.71], [0.11, -0.5]]))
    with pytest.raises(ModelError) as caught:
        steps.integer(graph.model(1, 2, datatype="FLOAT32"), config)
    assert str(caught.value).endswith(
        ". The model has no quantisers, and layers compute with integers: quantise its weights and activations, with "
        "Brevitas for example, and export it as QONNX"
    )


def signs_times_signs():
    graph = Graph(1, 5)
    weights = np.random.default_rng(1).choice([-1.0, 1.0], (5, 4))
    return graph.node("MatMul", weights).quant(4, 2.0).model(1, 4, datatype="BIPOLAR")


def test_weights_of_signs_behind_an_input_of_signs_are_integers(config):
    """FINN takes a product of both for a count of equal bits, which a network's own input is not."""
    made = steps.integer(steps.cleanup(signs_times_signs(), config), config)
    (product,) = made.get_nodes_by_op_type("MatMul")
    assert [made.get_tensor_datatype(name).name for name in product.input] == ["BIPOLAR", "INT2"]


def test_thresholds_of_minus_one_and_zero_are_no_signs():
    """Integers of -2 and -1: one channel's level changes at -1, and the other one's never."""
    graph = Graph(1, 2)
    graph.node("Add", [1.0]).quant(3, 1.0)
    graph.node("MatMul", graph.weights(np.asarray([[-1.0, 0.0], [0.0, -1.0]]), bits=3))
    scales = [[2.5, 1.4]]
    graph.node("Quant", scales, 0.0, 2.0, domain=QONNX, signed=1, narrow=0, rounding_mode="ROUND")
    model = graph.model(1, 2, datatype="UINT1")
    made = steps.integer(steps.cleanup(model, None), None)
    last = [node for node in made.graph.node if node.op_type == "MultiThreshold"][-1]
    assert made.get_tensor_datatype(last.input[0]).name == "INT2"
    assert made.get_initializer(last.input[1]).tolist() == [[-1.0, 1.0], [0.0, 1.0]]


@pytest.mark.slow
def test_layers_of_an_input_of_signs_compute_the_same(config):
    model = steps.cleanup(signs_times_signs(), config)
    made = steps.hardware_inference(steps.integer(model, config), config)
    for bits in range(32):
        sample = np.asarray([[1.0 if bits >> at & 1 else -1.0 for at in range(5)]], np.float32)
        np.testing.assert_array_equal(run(made, sample), run(model, sample))
