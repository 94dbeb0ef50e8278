"""Sums whose scales have no common unit: exact where there is a way, else refused, or close where that is allowed."""

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import layers, op_types, run, same

ALLOW = "`verify: {approximate: {integer: {error: ERROR, classes: SAMPLES}}}`"


def per_channel(graph, scales, bits=4, signed=1):
    """Quantise rows with a scale of each channel."""
    shape = np.asarray([scales], np.float32)
    return graph.node(
        "Quant", shape, 0.0, float(bits), domain=QONNX, signed=signed, narrow=0, rounding_mode="ROUND"
    )


def product(scales=(0.3, 0.71), bits=4, weights=((3.0, -2.0), (1.0, 4.0)), quantised=True, datatype="INT4"):
    """A product of rows whose channels have several scales."""
    graph = Graph(1, len(scales))
    per_channel(graph, scales, bits)
    graph.node("MatMul", graph.weights(np.asarray(weights), bits=5, scale=0.5))
    if quantised:
        graph.quant(3, 0.9)
    return graph.model(1, len(weights[0]), datatype=datatype)


PAIRS = np.asarray([[[a, b]] for a in range(-8, 8) for b in range(-8, 8)], np.float32)[::7]


def test_a_product_of_channels_with_several_scales_gets_the_factors_that_decide_every_level():
    made = same(product(), PAIRS)
    assert op_types(made) == ["MultiThreshold", "MatMul", "MultiThreshold", "Mul"]


@pytest.mark.slow
def test_so_does_a_convolution_with_padding():
    graph = Graph(1, 2, 2, 2)
    scales = np.asarray([[[[0.3]], [[0.71]]]], np.float32)
    graph.node("Quant", scales, 0.0, 2.0, domain=QONNX, signed=1, narrow=0, rounding_mode="ROUND")
    weights = np.random.default_rng(0).integers(-3, 4, (3, 2, 1, 2)).astype(np.float32)
    graph.node("Conv", graph.weights(weights, bits=4), kernel_shape=[1, 2], pads=[0, 1, 0, 0])
    graph.node("Relu").quant(3, 0.8)
    samples = np.random.default_rng(1).integers(-2, 2, (60, 1, 2, 2, 2)).astype(np.float32)
    made = same(graph.model(1, 3, 2, 2, datatype="INT2"), samples)
    assert op_types(made).count("MatMul") == 1


@pytest.mark.slow
def test_scales_that_are_multiples_but_for_their_rounding_need_no_search():
    rng = np.random.default_rng(0)
    weights = rng.integers(-7, 8, (6, 3)).astype(np.float32)
    model = product((0.1, 0.3, 0.7, 0.2, 0.1, 0.3), 8, weights, datatype="INT8")
    made = layers(model)
    samples = rng.integers(-128, 128, (40, 1, 6)).astype(np.float32)
    assert np.mean(run(made, samples) != run(model, samples)) == 0
    assert op_types(made).count("MatMul") == 1


def added(scales, others, quantised=True):
    """A sum of two branches, each of two channels."""
    graph = Graph(1, 2)
    first = per_channel(graph, scales).tail
    graph.tail = "in"
    per_channel(graph, others)
    graph.node("Add", first)
    if quantised:
        graph.quant(3, 1.1)
    return graph.model(1, 2, datatype="INT4")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scales", "others"), [((0.3, 0.41), (0.7, 0.17)), ((0.3, 0.5), (0.7, 0.5)), ((0.3, 0.3), (0.7, 0.17))]
)
def test_a_sum_of_branches_has_factors_of_each_channel(scales, others):
    made = same(added(scales, others), PAIRS)
    assert op_types(made).count("Add") == 1


@pytest.mark.parametrize("op_type", ["Add", pytest.param("Sub", marks=pytest.mark.slow)])
def test_a_sum_of_three_scales(op_type):
    graph = Graph(1, 2)
    parts = []
    for scale in (0.3, 0.71, 1.13):
        graph.tail = "in"
        graph.node("Mul", [[1.0, -1.0]])
        parts.append(graph.quant(3, scale).tail)
    graph.tail = parts[0]
    graph.node(op_type, parts[1]).node(op_type, parts[2]).quant(3, 1.3)
    made = same(graph.model(1, 2, datatype="INT4"), PAIRS)
    assert op_types(made).count("Add") == 2


@pytest.mark.parametrize(
    "model", [product(quantised=False), added((0.3, 0.41), (0.7, 0.17), quantised=False)]
)
def test_the_host_adds_what_no_quantiser_follows(model):
    made = layers(model)
    np.testing.assert_allclose(run(made, PAIRS), run(model, PAIRS), rtol=1e-6, atol=1e-6)


FOUR = (0.1070194, 0.1262471, 0.2242513, 0.3216781)


@pytest.mark.parametrize("turned", [1.0, pytest.param(-1.0, marks=pytest.mark.slow)])
def test_factors_of_many_bits_are_digits_of_products(turned):
    weights = turned * np.random.default_rng(0).integers(-15, 16, (4, 3)).astype(np.float32)
    model = product(FOUR, 6, weights, datatype="INT6")
    made = same(model, np.random.default_rng(1).integers(-32, 32, (12, 1, 4)).astype(np.float32))
    assert op_types(made).count("MatMul") == 3


def test_a_sum_of_two_branches_of_many_bits_has_such_factors_too():
    graph = Graph(1, 2)
    graph.node("Mul", [[1.0, -1.0]])
    first = graph.quant(8, 0.3712).tail
    graph.tail = "in"
    graph.quant(8, 0.2117)
    graph.node("MatMul", graph.weights(np.asarray([[31.0, -17.0], [-23.0, 29.0]]), bits=6)).node("Add", first)
    graph.quant(4, 71.3)
    model = graph.model(1, 2, datatype="INT8")
    same(model, np.random.default_rng(2).integers(-128, 128, (12, 1, 2)).astype(np.float32))


def wide(bits=4):
    """A product of 30 channels, each with a scale of its own, whose combinations nobody can try."""
    rng = np.random.default_rng(3)
    scales = np.exp(rng.normal(-1, 0.5, 30))
    most = 1 << (bits - 1)
    weights = rng.integers(1 - most, most, (30, 4)).astype(np.float32)
    graph = Graph(1, 30)
    per_channel(graph, scales)
    graph.node("MatMul", graph.weights(weights, bits=bits, scale=0.5)).quant(3, 0.9)
    return graph.model(1, 4, datatype="INT4")


def test_thirty_scales_have_such_factors():
    samples = np.random.default_rng(1).integers(-8, 8, (60, 1, 30)).astype(np.float32)
    same(wide(), samples)


def test_weights_of_many_bits_and_several_scales_are_refused_with_the_line_that_allows_the_closest():
    with pytest.raises(ModelError) as caught:
        IntegerLayers().apply(wide(14))
    assert str(caught.value) == (
        "no integer layers for node 'quant3' (Quant): it gets a sum of values with the scales 0.0512531, 0.0669948, "
        "0.108531 and others, which have no common unit, and no whole factors of them give the same levels: give what "
        f"is added quantisers with one scale, or let the closest factors stand for them: {ALLOW}"
    )


def test_the_closest_factors_are_taken_where_they_are_allowed_and_measured():
    model = wide()
    step = IntegerLayers(approximate=True)
    made = steps.cleanup(model, None).transform(step)
    samples = np.random.default_rng(1).integers(-8, 8, (60, 1, 30)).astype(np.float32)
    expected, found = run(model, samples), run(made, samples)
    (said,) = step.approximated
    assert said.node == "node 'quant3' (Quant)"
    assert said.differing < 0.01
    assert said.steps == 1
    assert said.text() == (
        f"node 'quant3' (Quant): scales without a common unit are off by at most {said.scale_error:.2g} of each; "
        f"{said.differing:.2%} of its levels differ on random integers, by at most 1 for any"
    )
    assert np.abs(found - expected).max() <= 0.9 * 1.0001
    assert np.mean(found != expected) < 0.01


def test_where_factors_are_exact_nothing_is_approximated():
    step = IntegerLayers(approximate=True)
    model = product()
    made = steps.cleanup(model, None).transform(step)
    assert step.approximated == []
    np.testing.assert_array_equal(run(made, PAIRS), run(model, PAIRS))
