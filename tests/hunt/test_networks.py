import re

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.execute import Executor
from brainsmith.execution.read_model import read_model
from tests.comparison.float_ties.tie_networks import one_layer
from tests.hunt import judge
from tests.hunt.forms import as_others_write
from tests.hunt.inputs import golden_inputs, unseen_inputs
from tests.hunt.networks import MODES, Network, random_network
from tests.hunt.real_arithmetic import tied, undecided
from tests.hunt.writer import CUSTOM, Tensor, Writer

SEEDS = range(250)
FEATURES = (
    *MODES,
    "ROUND",
    "MatMul",
    r"Conv .* stride \[2",
    r"Conv .* pad \[0, 2",
    r"Conv .* dilation \[2",
    r"Conv 4.* group 2",
    r"Conv 3.* group 3",
    r"Conv .* \[1, 3\]",
    r"MaxPool .* pad \[1",
    "AveragePool",
    "GlobalAveragePool",
    "Concat",
    "Split",
    "residual Add",
    r"Add\(t, t\)",
    "BatchNormalization",
    "Relu",
    "Mul per channel",
    "Quant .* zero",
    "Quant .* per channel",
    "Quant INT[2-8] narrow",
    "Quant UINT1 ",
    "8-bit",
    "2-bit narrow weights",
    "bipolar weights",
    "unsigned weights",
    "BipolarQuant",
    "TopK",
    r"BIPOLAR \[",
    r"float \[",
    r"\[2, ",
    r"\[1, \d, 1, 1\]",
    r"\[1, 1, ",
    r"Conv1d .* stride [23]",
    r"Conv1d .* dilation 2",
    r"Conv1d .* group [234]",
    r"Add of a branch of Relu",
    r"Mul of a branch of Sigmoid",
    r"Quant UINT8 .* zero \d{2}",
    "second output",
    "shared constants",
    "constants among the inputs",
    "Constant nodes",
    "Identity",
    "dead end",
    "strange names",
    "declared twice",
)


def test_a_seed_gives_the_same_network_each_time():
    first, second = random_network(7), random_network(7)
    assert first.model.SerializeToString(deterministic=True) == second.model.SerializeToString(
        deterministic=True
    )


@pytest.fixture(scope="module")
def many():
    return [random_network(seed) for seed in SEEDS]


def test_the_networks_have_everything_that_others_networks_have(many):
    texts = [network.text for network in many]
    assert [each for each in FEATURES if not any(re.search(each, text) for text in texts)] == []


def test_about_half_of_the_networks_are_exact(many):
    assert 0.4 < np.mean([network.exact for network in many]) < 0.6


DRAWN = [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 12))]


@pytest.mark.parametrize("seed", DRAWN)
def test_each_network_runs_in_qonnx_and_gives_the_shape_that_it_states(seed):
    network = random_network(seed)
    output = network.model.graph.output[0].type.tensor_type.shape.dim
    samples = golden_inputs(network.shape, network.datatype, seed)
    assert judge.reference(network, samples)[0].shape == (4, *(dim.dim_value for dim in output))


@pytest.mark.parametrize("seed", DRAWN)
def test_a_network_computes_the_same_in_each_form(seed):
    network = random_network(seed)
    forms = as_others_write(network.model, np.random.default_rng(seed))[0]
    samples = golden_inputs(network.shape, network.datatype, seed)
    written = Network(seed, network.model, network.datatype, network.exact, "", forms)
    executor = Executor(read_model(written.file()))
    found = executor.run({"x": samples})
    for value, expected in zip(network.model.graph.output, judge.reference(network, samples), strict=True):
        size = 0.0 if network.exact else 1e-5 * max(1.0, np.abs(expected).max())
        assert np.abs(found[value.name] - expected).max() <= size


@pytest.mark.parametrize("datatype", ["INT3", "UINT5", "BIPOLAR"])
def test_unseen_inputs_are_values_of_the_datatype_with_both_ends(datatype):
    samples = unseen_inputs((1, 2, 3, 3), datatype, 5)
    kind = DataType[datatype]
    assert all(kind.allowed(value) for value in np.unique(samples))
    assert any((sample == kind.min()).all() for sample in samples)
    assert any((sample == kind.max()).all() for sample in samples)


def identity(scale, exact):
    """Return a network that multiplies by one, and quantises."""
    writer = Writer()
    names = ["x", writer.constant([[1.0]])]
    product = writer.node("MatMul", names, (1, 1))
    settings = [writer.constant(value) for value in (scale, 0.0, 4.0)]
    result = writer.node(
        "Quant", [product.name, *settings], (1, 1), CUSTOM, signed=1, narrow=0, rounding_mode="ROUND"
    )
    model = writer.model([Tensor("x", (1, 1))], [result])
    return Network(0, model, "INT5", exact, "identity")


def test_a_difference_of_one_level_is_wrong_and_named():
    network = identity(2.0, True)
    samples = np.array([[[0.0]], [[3.0]]], np.float32)
    (expected,) = judge.reference(network, samples)
    assert expected.ravel().tolist() == [0.0, 4.0]  # 1.5 goes to the even one
    found = judge._compared(network, samples, expected, np.array([[0.0], [2.0]]))
    assert found == judge.Verdict(
        "wrong", "1 of 2 samples differ: sample 1, output 0 is 2, and 4 in the network"
    )


def test_a_tie_of_real_scales_is_left_out_and_no_other_difference():
    model = one_layer(0.7, 1.4)
    (name,) = (value.name for value in model.graph.output)
    network = Network(0, model.model, "INT5", False, "ties")
    samples = np.array([[[-13.0, 2.0, 12.0]], [[2.0, 0.0, 0.0]]], np.float32)  # half a level, and a whole one
    assert [undecided(network.model, sample) for sample in samples] == [True, False]
    (expected,) = judge.reference(network, samples)
    other = Executor(one_layer(0.7, 1.4)).run({"x": samples})[name].copy()
    other[0, 0, 0] += np.float32(1.4) if expected[0, 0, 0] == 0.0 else -np.float32(1.4)
    assert judge._compared(network, samples, expected, other) == judge.Verdict("right", undecided=1)
    other[1, 0, 0] += np.float32(1.4)
    assert judge._compared(network, samples, expected, other).text.startswith(
        "1 of 2 samples differ: sample 1, "
    )


def test_a_sum_that_cancels_but_in_float32_is_a_tie_for_ceil():
    writer = Writer()
    product = writer.node("MatMul", ["x", writer.constant(np.full((3, 1), 0.7, np.float32))], (1, 1))
    settings = [writer.constant(value) for value in (1.0, 0.0, 4.0)]
    result = writer.node(
        "Quant", [product.name, *settings], (1, 1), CUSTOM, signed=1, narrow=0, rounding_mode="CEIL"
    )
    network = Network(0, writer.model([Tensor("x", (1, 3))], [result]), "INT5", False, "cancels")
    sample = np.array([[-13.0, 2.0, 11.0]], np.float32)
    assert (
        judge.reference(network, sample[None])[0].item() == 1.0
    )  # the sum is 0, and float32 leaves some 1e-7
    assert undecided(network.model, sample)
    assert tied(network, sample, np.zeros(1))
    assert not tied(network, sample, np.full(1, 2.0))
    assert not undecided(network.model, np.array([[1.0, 1.0, 1.0]], np.float32))


@pytest.mark.parametrize(("other", "tie"), [(0.7, True), (0.1, False)])
def test_which_of_two_equal_values_an_arg_max_finds_is_a_tie(other, tie):
    writer = Writer()
    weights = np.array([[0.7, other], [0.7, other], [0.7, 0.7]], np.float32)
    product = writer.node("MatMul", ["x", writer.constant(weights)], (1, 2))
    names = [product.name, writer.constant([1], np.int64)]
    _, index = writer.split("TopK", names, [(1, 1)] * 2, axis=1, largest=1, sorted=1)
    model = writer.model([Tensor("x", (1, 3))], [index], (index.name,))
    network = Network(0, model, "INT5", False, "arg-max")
    sample = np.array([[-13.0, 2.0, 11.0]], np.float32)
    assert [tied(network, sample, np.array([place])) for place in (0, 1)] == [tie, True]


def test_a_network_that_the_build_cannot_take_is_refused(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Sin", ["x"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])],
        "sine",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 1))],
        initializer=[numpy_helper.from_array(np.ones((2, 1), np.float32), "w")],
    )
    opsets = [helper.make_opsetid("", 13)]
    model = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=opsets)).model
    verdict = judge.judge(Network(0, model, "INT4", True, "sine"), "estimates", tmp_path)
    assert verdict.kind == "refused"
    assert "Sin" in verdict.text
