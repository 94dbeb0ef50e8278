"""Integers that float32 does not hold: tensors of float64, exact wherever they stand, or refused."""

from fractions import Fraction

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.plugins import steps
from tests.steps.conftest import config as config
from tests.transforms.quantised_nets import Net, kinds, run
from tests.transforms.wide_nets import CASES, levels

CASTS = ["Cast", "MatMul", "MultiThreshold", "Cast"]


def product(weights, scale, bits):
    """Return a network of whole weights (terms, results) and a quantiser of their sums."""
    net = Net(1, len(weights), datatype="INT16")
    net.node("MatMul", net.weights(weights, 1.0, 16), shape=[1, weights.shape[1]])
    return net.quant(scale, bits=bits).model()


def exact_levels(samples, weights, scale, bits):
    """Return what a quantiser gives of exact sums, rounded to float32 once; its scale is a power of two."""
    sums = samples[:, 0].astype(np.int64) @ weights.astype(np.int64)
    levels = np.rint(sums.astype(np.float32) / scale)
    return np.clip(levels, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)[:, None] * scale


def near_thresholds(random, samples, weights, scale, bits):
    """Let the last term of each sample bring the first sum next to a threshold: its weight must be 1."""
    sums = samples[:, 0, :-1].astype(np.int64) @ weights[:-1, 0].astype(np.int64)
    levels = np.clip(np.rint(sums / scale), -(2 ** (bits - 1)), 2 ** (bits - 1) - 2)
    wanted = (levels + 0.5) * scale + random.integers(-1, 2, len(sums))
    samples[:, 0, -1] = np.clip(wanted - sums, -(2**15), 2**15 - 1)
    return samples


def one_by_one(model, samples):
    """Return what QONNX computes."""
    name, result = model.graph.input[0].name, model.graph.output[0].name
    return np.stack([execute_onnx(model, {name: sample})[result] for sample in samples])


def on_onnx_runtime(model, samples):
    """Return what a standard model computes."""
    standard = rewrite(model)
    session = ort.InferenceSession(standard.content, providers=["CPUExecutionProvider"])
    ends = [value.name for value in model.graph.output]
    (found,) = session.run(ends, {session.get_inputs()[0].name: samples[:, 0]})
    return found[:, None]


@settings(deadline=None, max_examples=30)
@given(
    input_bits=st.integers(9, 16),
    weight_bits=st.integers(9, 16),
    terms=st.sampled_from([33, 200, 512]),
    bits=st.integers(2, 8),
    seed=st.integers(0, 1000),
)
def test_levels_are_those_of_the_exact_sums(input_bits, weight_bits, terms, bits, seed):
    random = np.random.default_rng(seed)
    weights = random.integers(-(2 ** (weight_bits - 1)), 2 ** (weight_bits - 1), (terms, 3)).astype(
        np.float64
    )
    weights[-1] = 1
    scale = 2.0 ** random.integers(2, input_bits + weight_bits - bits + 4)
    model = product(weights, scale, bits)
    samples = random.integers(-(2 ** (input_bits - 1)), 2 ** (input_bits - 1), (8, 1, terms)).astype(
        np.float32
    )
    samples = near_thresholds(random, samples, weights, scale, bits)
    made = steps.integer(steps.cleanup(model, None), None)
    assert kinds(made)[:4] == CASTS
    found = run(made, samples)
    np.testing.assert_array_equal(found, exact_levels(samples, weights, scale, bits))
    np.testing.assert_array_equal(found, one_by_one(made, samples))
    np.testing.assert_array_equal(found, on_onnx_runtime(made, samples))


def wide_product():
    random = np.random.default_rng(3)
    weights = random.integers(-(2**15), 2**15, (512, 4)).astype(np.float64)
    weights[-1] = 1
    return weights, product(weights, 2.0**30, 6), random


def test_sums_and_thresholds_are_float64_and_everything_else_is_float32():
    _, model, _ = wide_product()
    made = steps.integer(steps.cleanup(model, None), None)
    wide = {v.name for v in made.graph.value_info if v.type.tensor_type.elem_type == TensorProto.DOUBLE}
    sums, thresholds = made.graph.node[2].input
    assert wide == {
        *made.graph.node[1].input,
        *made.graph.node[1].output,
        thresholds,
        made.graph.node[2].output[0],
    }
    assert made.get_tensor_datatype(sums).name == "INT39"
    assert made.get_initializer(thresholds).dtype == np.float64
    assert np.abs(made.get_initializer(thresholds)).max() > 2**24


@pytest.mark.slow
def test_hardware_layers_compute_the_exact_sums_too(config):
    weights, model, random = wide_product()
    made = steps.hardware_inference(steps.integer(steps.cleanup(model, config), config), config)
    assert kinds(made)[:2] == ["MVAU", "Thresholding"]
    assert "Cast" not in kinds(made)
    samples = random.integers(-(2**15), 2**15, (50, 1, 512)).astype(np.float32)
    samples = near_thresholds(random, samples, weights, 2.0**30, 6)
    wanted = exact_levels(samples, weights, 2.0**30, 6)
    np.testing.assert_array_equal(run(made, samples), wanted)
    np.testing.assert_array_equal(one_by_one(made, samples), wanted)
    np.testing.assert_array_equal(on_onnx_runtime(made, samples), wanted)


def refusal(net, config=None):
    with pytest.raises(ModelError) as caught:
        steps.integer(steps.cleanup(net.model(), config), config)
    return str(caught.value)


@settings(deadline=None, max_examples=30)
@given(make=st.sampled_from(CASES), seed=st.integers(0, 1000))
def test_integers_are_exact_wherever_they_stand(make, seed):
    case = make(np.random.default_rng(seed))
    assert np.abs(case.sums).max() > 2**24
    made = steps.integer(steps.cleanup(case.model, None), None)
    for execute in (run, one_by_one, on_onnx_runtime):
        np.testing.assert_array_equal(execute(made, case.samples), case.wanted)


@pytest.mark.slow
@pytest.mark.parametrize("make", CASES)
def test_hardware_layers_are_exact_wherever_they_stand(make, config):
    case = make(np.random.default_rng(7))
    made = steps.hardware_inference(steps.integer(steps.cleanup(case.model, config), config), config)
    wide = [
        name for node in made.graph.node for name in node.output if made.get_tensor_datatype(name).max() > 2**24
        and made.get_tensor_datatype(name).is_integer()
    ]  # fmt: skip
    doubles = {v.name for v in made.graph.value_info if v.type.tensor_type.elem_type == TensorProto.DOUBLE}
    assert wide and doubles.issuperset(wide)
    for execute in (run, one_by_one, on_onnx_runtime):
        np.testing.assert_array_equal(execute(made, case.samples), case.wanted)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), shift=st.integers(0, 2), mantissa=st.integers(1025, 2047))
def test_a_wide_branch_joins_one_of_another_scale_up_to_float_ties(seed, shift, mantissa):
    """Levels are those of the exact sum of both, as fractions, but where it is at a tie within float32's rounding."""
    random = np.random.default_rng(seed)
    weights, ratio = (
        random.integers(-(2**15), 2**15, (24, 24)).astype(np.float64),
        mantissa * 2.0 ** -(shift + 10),
    )
    net = Net(1, 24, datatype="INT16")
    net.node("MatMul", net.weights(weights * ratio, ratio, 16), shape=[1, 24])
    scale = 2.0**26
    model = net.node("Add", "x", shape=[1, 24]).quant(scale, bits=6).model()
    samples = random.integers(-(2**15), 2**15, (20, 1, 24)).astype(np.float32)
    made = steps.integer(steps.cleanup(model, None), None)
    whole = samples[:, 0].astype(np.int64)
    sums = whole @ weights.astype(np.int64)
    assert np.abs(sums).max() > 2**24
    found = run(made, samples)[:, 0]
    for at in np.ndindex(found.shape):
        exact = (Fraction(ratio) * int(sums[at]) + int(whole[at])) / Fraction(scale)
        reach = (
            Fraction(2.0**-24)
            * 25
            * sum(
                abs(Fraction(ratio) * int(one) * int(two))
                for one, two in zip(whole[at[0]], weights[:, at[1]], strict=True)
            )
            / Fraction(scale)
        )  # gamma_n times the sum of magnitudes
        ends = [min(max(round(exact + way * reach), -32), 31) for way in (-1, 1)]
        assert ends[0] <= found[at] / scale <= ends[1]


def test_an_input_beyond_24_bits_is_taken_as_it_is_given():
    net = Net(1, 3, 2, 2, datatype="INT30").quant(2.0**24, bits=5)
    samples = np.asarray([2**29 - 64, -(2**29), 2**24 - 1, 2**23], np.float32)
    stack = np.broadcast_to(samples.reshape(-1, 1, 1, 1, 1), (4, 1, 3, 2, 2))
    made = steps.integer(steps.cleanup(net.model(), None), None)
    wanted = levels(stack.astype(np.int64), 5, 24)
    for execute in (run, one_by_one, on_onnx_runtime):
        np.testing.assert_array_equal(execute(made, stack), wanted)


def test_a_sum_beyond_48_bits_is_refused():
    net = Net(1, 512, datatype="INT24")
    net.node("MatMul", net.weights(np.full((512, 2), 2.0**20), 1.0, 22), shape=[1, 2]).quant(2.0**40)
    assert refusal(net) == (
        "no integer layers for node 'matmul1' (MatMul): its sums reach 4503599627370496, and integers of more than 48 bits "
        "are not supported: use fewer bits for its weights or for its inputs"
    )


def test_an_operator_that_takes_float32_alone_is_refused_by_name():
    net = Net(1, 3, 4, 4, datatype="INT16")
    weights = net.weights(np.full((2, 3, 3, 3), 2.0**14), 1.0, 16)
    net.node("Conv", weights, shape=[1, 2, 2, 2], kernel_shape=[3, 3])
    sizes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    net.node("Resize", "", net.constant([1, 1, 2, 2]), shape=[1, 2, 4, 4], **sizes).quant(2.0**24)
    assert refusal(net) == (
        "no integer layers for Resize 'resize2': its integers reach 14495514624, more than 24 bits, which Resize does not "
        "take: put a quantiser before it, or use fewer bits for the weights or for the inputs of the product before it"
    )


@pytest.mark.slow
def test_a_convolution_with_wide_sums_becomes_layers_and_a_standard_model(config):
    random = np.random.default_rng(5)
    held = random.integers(-(2**11), 2**11, (6, 3, 3, 3)).astype(np.float64)
    net = Net(1, 3, 6, 6, datatype="INT12")
    net.node("Conv", net.weights(held, 1.0, 12), shape=[1, 6, 6, 6], kernel_shape=[3, 3], pads=[1] * 4)
    model = net.quant(2.0**21, bits=5).model()
    made = steps.integer(steps.cleanup(model, config), config)
    samples = random.integers(-(2**11), 2**11, (20, 1, 3, 6, 6)).astype(np.float32)
    padded = np.pad(samples[:, 0].astype(np.int64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    sums = np.einsum("nchwij,fcij->nfhw", windows, held.astype(np.int64))
    wanted = np.clip(np.rint(sums / 2.0**21), -16, 15)[:, None] * 2.0**21
    np.testing.assert_array_equal(run(made, samples), wanted)
    layers = steps.hardware_inference(made, config)
    assert "MVAU" in kinds(layers) and "Cast" not in kinds(layers)
    np.testing.assert_array_equal(run(layers, samples), wanted)
