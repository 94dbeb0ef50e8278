"""The digits example: accurate, small, exact in every step of a build, and reproducible."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from brainsmith.build.config import StepConfig
from brainsmith.execution.execute import Executor
from brainsmith.ops import gradcheck
from brainsmith.plugins import steps

FOLDER = Path(__file__).parents[2] / "examples" / "digits"
NETWORKS = ("mlp", "cnn", "residual")
BUILT = ("mlp", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cnn", "residual")))
PIXELS = {"mlp": "mlp", "cnn": "cnn", "residual": "cnn", "binary_mlp": "mlp"}
OURS = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold", "estimate")
LEAST_ACCURACY = {"mlp": 0.95, "cnn": 0.97, "residual": 0.97}
MODULES = ("digits_data", "quantised_layers", "quantised_network", "train", "training", "training_ops")


def load(name):
    from qonnx.core.modelwrapper import ModelWrapper

    return ModelWrapper(str(FOLDER / f"{name}.onnx"))


def images(name):
    return np.load(FOLDER / f"digits_{PIXELS[name]}_x.npy")


def labels():
    return np.load(FOLDER / "digits_y.npy")


def run(model, pixels, tensor):
    executor = Executor(model)
    stack = pixels.reshape(len(pixels), *executor.shape(executor.inputs[0])).astype(np.float32)
    found = executor.run({executor.inputs[0]: stack}, keep=frozenset([tensor]))
    return found[tensor].reshape(len(pixels), -1)


def results(model, pixels):
    """Compute the graph's output: logits or, of a network that ends in an arg-max, labels."""
    return run(model, pixels, model.graph.output[0].name)


def logits(model, pixels):
    """Compute what the classes are chosen by."""
    last = model.graph.node[-1]
    return run(model, pixels, last.input[0] if last.op_type == "TopK" else last.output[0])


def classes(found):
    return found.argmax(axis=1) if found.shape[1] > 1 else found[:, 0]


@pytest.fixture
def training(monkeypatch):
    """Make the example's modules importable, as they are for its script."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for module in set(sys.modules) - before:
        if module in MODULES:
            del sys.modules[module]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.slow
def test_the_stated_accuracy_is_what_the_graph_computes(name):
    stated = json.loads((FOLDER / "accuracy.json").read_text())[name]
    computed = logits(load(name), images(name))
    chosen = classes(results(load(name), images(name)))
    assert np.array_equal(chosen, computed.argmax(axis=1))
    correct = int((chosen == labels()).sum())
    assert correct == stated["test_correct"]
    assert stated["test_accuracy"] == round(correct / stated["test_samples"], 4) >= LEAST_ACCURACY[name]
    ordered = np.sort(computed, axis=1)
    assert (ordered[:, -1] > ordered[:, -2]).all()
    assert stated["test_ties"] == 0


@pytest.mark.slow
def test_the_held_out_images_are_of_the_data_set_and_not_trained_with(training):
    import digits_data

    digits = digits_data.load()
    assert len(digits.test_x) == len(labels()) == 360
    assert len(digits.train_x) == 1437
    assert np.array_equal(images("mlp"), digits.test_x.reshape(360, 64))
    assert np.array_equal(images("cnn"), digits.test_x.transpose(0, 3, 1, 2))
    assert np.array_equal(labels(), digits.test_y)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_quantiser_is_signed_and_of_2_to_4_bits(name):
    model = load(name)
    assert model.get_tensor_datatype("image").name == "UINT5"
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    quantisers = model.get_nodes_by_op_type("Quant")
    assert len(quantisers) == {"mlp": 6, "cnn": 6, "residual": 9}[name]
    for node in quantisers:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        assert 2 <= constants[node.input[3]] <= 4
        assert constants[node.input[2]] == 0
        assert attributes["signed"] == 1
        mantissa, _ = np.frexp(constants[node.input[1]])
        assert mantissa == 0.5  # a power of two


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.slow
def test_the_whole_held_out_set_is_the_same_after_every_step(name, tmp_path):
    model = load(name)
    expected = results(model, images(name))
    config = StepConfig(str(tmp_path), 5.0, "xczu7ev-ffvc1156-2-e", 20_000, {"*": ("rtl", "hls")})
    for step in OURS:
        model = steps[step](model, config)
        assert np.array_equal(results(model, images(name)), expected), step
    assert all(node.domain == "finn.custom_op.fpgadataflow.rtl" for node in model.graph.node)


@pytest.mark.slow
def test_the_same_model_gives_the_same_bytes(tmp_path):
    config = StepConfig(str(tmp_path), 5.0, "xczu7ev-ffvc1156-2-e", 20_000, {"*": ("rtl", "hls")})
    results = []
    for _ in range(2):
        model = load("cnn")
        for step in OURS:
            model = steps[step](model, config)
        results.append(model.model.SerializeToString(deterministic=True))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.slow
def test_qonnx_itself_computes_the_same(name):
    from qonnx.core.onnx_exec import execute_onnx

    model, pixels = load(name), images(name)[:8].astype(np.float32)
    (output,) = model.graph.output
    one_by_one = [execute_onnx(model, {"image": image[np.newaxis]})[output.name][0] for image in pixels]
    assert np.array_equal(results(model, pixels), np.stack(one_by_one))


@pytest.mark.parametrize("name", ["cnn", "residual"])
def test_a_cnn_gives_the_label_itself(name):
    (output,) = load(name).graph.output
    assert output.name == "label"
    assert [size.dim_value for size in output.type.tensor_type.shape.dim] == [1, 1]
    assert output.type.tensor_type.elem_type == onnx.TensorProto.INT64


def change_weight(model, name, change):
    weight = model.get_initializer(name).copy()
    model.set_initializer(name, change(weight))
    return model


@pytest.mark.parametrize(("name", "weight"), [("mlp", "fc2_weight"), ("residual", "conv3_weight")])
def test_one_flipped_weight_bit_is_seen(name, weight):
    def flip(values):
        flat = values.reshape(-1)
        at = int(np.abs(flat).argmax())
        flat[at] = -flat[at]
        return values

    expected = logits(load(name), images(name))
    assert not np.array_equal(logits(change_weight(load(name), weight, flip), images(name)), expected)


@pytest.mark.parametrize(("name", "weight", "axis"), [("mlp", "fc2_weight", 0), ("cnn", "conv2_weight", 1)])
def test_two_swapped_channels_are_seen(name, weight, axis):
    def swap(values):
        order = np.arange(values.shape[axis])
        order[[0, 1]] = order[[1, 0]]
        return np.ascontiguousarray(values.take(order, axis=axis))

    expected = logits(load(name), images(name))
    changed = logits(change_weight(load(name), weight, swap), images(name))
    assert not np.array_equal(changed.argmax(axis=1), expected.argmax(axis=1))


@pytest.mark.parametrize("name", [*NETWORKS, "binary_mlp"])
@pytest.mark.slow
def test_the_exported_graph_computes_the_trainers_integers(name, training, tmp_path):
    import train

    network = getattr(train, f"build_{name}")(seed=7)
    pixels = images(name)[:32]
    integers = network.logits(pixels.reshape(32, 8, 8, 1).astype(np.float64)).numpy()
    assert np.array_equal(integers, np.rint(integers))
    network.export(tmp_path / "model.onnx")
    from qonnx.core.modelwrapper import ModelWrapper

    model = ModelWrapper(str(tmp_path / "model.onnx"))
    assert np.array_equal(logits(model, pixels), integers)
    assert np.array_equal(classes(results(model, pixels)), integers.argmax(axis=1))
    assert [node.op_type for node in model.graph.node] == [node.op_type for node in load(name).graph.node]


def trained(network, graph):
    """Give a network the weights and biases of a graph, which rounding does not change.

    But for one: the -0 that a small negative weight became would become 0.
    """
    for layer in network.layers:
        if hasattr(layer, "layers"):
            trained(layer, graph)
            continue
        for name, parameter in layer.named_parameters():
            values = graph.get_initializer(f"{layer.name}_{name}")
            parameter.data = np.where((values == 0) & np.signbit(values), -1e-9, values)
    return network


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NETWORKS, "binary_mlp"])
def test_the_committed_graph_is_what_the_tape_of_the_trained_network_gives(name, training, tmp_path):
    import train

    network = trained(getattr(train, f"build_{name}")(seed=1), load(name))
    network.export(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == (FOLDER / f"{name}.onnx").read_bytes()


@pytest.mark.parametrize(("name", "epochs"), [("mlp", 3), ("binary_mlp", 2)])
@pytest.mark.slow
def test_training_is_the_same_twice_and_learns(name, epochs, training):
    import dataclasses

    import digits_data
    import train
    from training import train as fit

    digits = digits_data.load()
    schedule = dataclasses.replace(train.SCHEDULES[name], epochs=epochs, seed=3)
    networks = [getattr(train, f"build_{name}")(seed=3) for _ in range(2)]
    untrained = (networks[0].predict(digits.train_x) == digits.train_y).mean()
    for network in networks:
        fit(network, digits, schedule)
    for one, other in zip(networks[0].latents(), networks[1].latents(), strict=True):
        assert np.array_equal(one.tensor.numpy(), other.tensor.numpy())
    assert (networks[0].predict(digits.train_x) == digits.train_y).mean() > untrained + 0.3


def random_integers(seed, *shape):
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(np.float64)


def test_both_ways_of_a_block_are_trained(training):
    import quantised_layers
    import quantised_network

    from brainsmith.ops import Tensor

    random = np.random.RandomState(1)
    dense = quantised_layers.Dense("fc", 6, 6, bits=3, random=random)
    activation = quantised_layers.Activation("fc", (6,), shift=3, bits=4)
    block = quantised_network.Residual("block", [dense, activation])
    assert block.connect(0.5, None) == 0.5
    x, upstream = (
        (Tensor(random_integers(4, 5, 6) / 2, requires_grad=True) for _ in range(2)),
        random_integers(5, 5, 6),
    )
    whole, branch = x
    block(whole).backward(upstream)
    activation(dense(branch)).backward(upstream)
    assert np.array_equal(block(whole).numpy(), activation(dense(branch)).numpy() + whole.numpy())
    assert branch.grad.any()
    assert np.array_equal(whole.grad, branch.grad + upstream)
    assert len(block.latents()) == 2


def test_a_block_without_an_activation_and_a_mean_that_is_rounded_are_refused(training):
    import quantised_layers
    import quantised_network

    conv = quantised_layers.Conv("conv", (1, 2), bits=3, random=np.random.RandomState(1))
    with pytest.raises(TypeError, match=r"^the last layer of block 'block' must be an Activation, not <"):
        quantised_network.Residual("block", [conv])
    with pytest.raises(ValueError, match=r"^mean: the mean of 36 pixels is not exact in floating point$"):
        quantised_network.Mean("mean", pixels=36)


def test_gradients_are_those_of_the_surrogates(training):
    import training_ops

    x = np.random.default_rng(6).uniform(-6, 6, (4, 5))
    gradcheck(training_ops.HalfOdd(), [x], attributes={"unit": 0.25})
    gradcheck(training_ops.ActivationQuant(), [x, 0.5, 0.0, 4.0])
    gradcheck(training_ops.SignQuant(), [x, 1.0], attributes={"reach": 4.0})


def test_an_activations_gradient_reaches_to_where_rounding_ends(training):
    import training_ops

    x = np.array([-2.51, -2.49, 0.3, 1.49, 1.51])
    (found, *_) = training_ops.ActivationQuant().backward(np.ones(5), [x, np.array(1.0), 0, np.array(2)], x)
    assert found.tolist() == [0, 1, 1, 1, 0]


def test_the_losss_gradient_is_that_of_the_cross_entropy_on_a_grid(training):
    import training_ops

    loss, right = training_ops.ClassLoss(), np.array([0, 2, 1])
    at = np.array([[4.0, 0, -3], [1, 1, 1], [5, -6, 0]])
    assert loss.forward(at, right, temperature=8.0) > 0
    (found, _) = loss.backward(np.float64(1), [at, right], None, temperature=8.0)
    chances = (7 / 8) ** -at
    expected = chances / chances.sum(axis=1, keepdims=True) - np.eye(3)[right]
    assert np.abs(found - expected).max() <= 2.0**-17 + 1e-9
    assert np.array_equal(found, np.rint(found * 2**16) / 2**16)


def test_gradients_are_rounded_to_the_grid_and_too_great_ones_are_refused(training):
    import training_ops

    op, x = training_ops.OnGrid(), np.zeros(3)
    (found,) = op.backward(np.array([0.3, 2.0**-16, -5.0]), [x], x, unit=0.25)
    assert found.tolist() == [round(0.3 * 2**14) / 2**14, 0.0, -5.0]
    for great in (2.0**18, np.nan):
        with pytest.raises(ArithmeticError) as caught:
            op.backward(np.array([great]), [x], x, unit=0.25)
        expected = f"a gradient of {great * 2**14:g} units: from 2^32 on, sums of them may be rounded"
        assert str(caught.value) == expected


@pytest.mark.slow
def test_the_script_writes_the_committed_files_bit_for_bit(tmp_path):
    subprocess.run([sys.executable, str(FOLDER / "train.py"), "--output", str(tmp_path)], check=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "accuracy.json",
        "binary_mlp.onnx",
        "cnn.onnx",
        "digits_cnn_x.npy",
        "digits_mlp_x.npy",
        "digits_y.npy",
        "mlp.onnx",
        "residual.onnx",
    ]
    for name in names:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name
