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
from brainsmith.plugins import steps

FOLDER = Path(__file__).parents[2] / "examples" / "digits"
NETWORKS = ("mlp", "cnn")
OURS = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold", "estimate")
LEAST_ACCURACY = {"mlp": 0.95, "cnn": 0.97}


def load(name):
    from qonnx.core.modelwrapper import ModelWrapper

    return ModelWrapper(str(FOLDER / f"{name}.onnx"))


def images(name):
    return np.load(FOLDER / f"digits_{name}_x.npy")


def labels():
    return np.load(FOLDER / "digits_y.npy")


def logits(model, pixels):
    executor = Executor(model)
    stack = pixels.reshape(len(pixels), *executor.shape(executor.inputs[0])).astype(np.float32)
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]].reshape(len(pixels), -1)


@pytest.fixture
def training(monkeypatch):
    """Make the example's modules importable, as they are for its script."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for module in set(sys.modules) - before:
        if module in ("digits_data", "quantised_network", "qonnx_export", "training", "train"):
            del sys.modules[module]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_stated_accuracy_is_what_the_graph_computes(name):
    stated = json.loads((FOLDER / "accuracy.json").read_text())[name]
    computed = logits(load(name), images(name))
    correct = int((computed.argmax(axis=1) == labels()).sum())
    assert correct == stated["test_correct"]
    assert stated["test_accuracy"] == round(correct / stated["test_samples"], 4) >= LEAST_ACCURACY[name]
    ordered = np.sort(computed, axis=1)
    assert (ordered[:, -1] > ordered[:, -2]).all()
    assert stated["test_ties"] == 0


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
    assert len(quantisers) == {"mlp": 6, "cnn": 8}[name]
    for node in quantisers:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        assert 2 <= constants[node.input[3]] <= 4
        assert constants[node.input[2]] == 0
        assert attributes["signed"] == 1
        mantissa, _ = np.frexp(constants[node.input[1]])
        assert mantissa == 0.5  # a power of two


@pytest.mark.parametrize("name", NETWORKS)
def test_the_whole_held_out_set_is_the_same_after_every_step(name, tmp_path):
    model = load(name)
    expected = logits(model, images(name))
    config = StepConfig(str(tmp_path), 5.0, "xczu7ev-ffvc1156-2-e", 20_000, {"*": ("rtl", "hls")})
    for step in OURS:
        model = steps[step](model, config)
        assert np.array_equal(logits(model, images(name)), expected), step
    assert all(node.domain == "finn.custom_op.fpgadataflow.rtl" for node in model.graph.node)


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
def test_qonnx_itself_computes_the_same(name):
    from qonnx.core.onnx_exec import execute_onnx

    model, pixels = load(name), images(name)[:8].astype(np.float32)
    one_by_one = [execute_onnx(model, {"image": image[np.newaxis]})["logits"][0] for image in pixels]
    assert np.array_equal(logits(model, pixels), np.stack(one_by_one))


def change_weight(model, name, change):
    weight = model.get_initializer(name).copy()
    model.set_initializer(name, change(weight))
    return model


@pytest.mark.parametrize(("name", "weight"), [("mlp", "fc2_weight"), ("cnn", "conv2_weight")])
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


@pytest.mark.parametrize("name", NETWORKS)
def test_the_exported_graph_computes_the_trainers_integers(name, training, tmp_path):
    import qonnx_export
    import train

    network = {"mlp": train.build_mlp, "cnn": train.build_cnn}[name](seed=7)
    pixels = images(name)[:32]
    integers = network.forward(pixels.reshape(32, 8, 8, 1).astype(np.float64))
    qonnx_export.export(network, tmp_path / "model.onnx")
    from qonnx.core.modelwrapper import ModelWrapper

    assert np.array_equal(logits(ModelWrapper(str(tmp_path / "model.onnx")), pixels), integers)


def test_training_is_the_same_twice_and_learns(training):
    import digits_data
    import train
    from training import Schedule
    from training import train as fit

    digits = digits_data.load()
    networks = [train.build_mlp(seed=3) for _ in range(2)]
    untrained = (networks[0].predict(digits.train_x) == digits.train_y).mean()
    for network in networks:
        fit(network, digits, Schedule(epochs=3, seed=3, temperature=16.0))
    for one, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert np.array_equal(one.value, other.value)
    assert (networks[0].predict(digits.train_x) == digits.train_y).mean() > untrained + 0.3


def test_a_sum_that_might_be_rounded_is_refused(training):
    import quantised_network

    with pytest.raises(ArithmeticError) as caught:
        quantised_network.exact_matmul(np.full((1, 8), 2.0**26), np.full((8, 1), 2.0**26))
    assert str(caught.value) == "a product of (1, 8) and (8, 1) may need more than 53 bits"


@pytest.mark.slow
def test_the_script_writes_the_committed_files_bit_for_bit(tmp_path):
    subprocess.run([sys.executable, str(FOLDER / "train.py"), "--output", str(tmp_path)], check=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "accuracy.json",
        "cnn.onnx",
        "digits_cnn_x.npy",
        "digits_mlp_x.npy",
        "digits_y.npy",
        "mlp.onnx",
    ]
    for name in names:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name
