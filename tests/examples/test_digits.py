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
NETWORKS = ("mlp", "cnn", "residual")
PIXELS = {"mlp": "mlp", "cnn": "cnn", "residual": "cnn"}
OURS = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold", "estimate")
LEAST_ACCURACY = {"mlp": 0.95, "cnn": 0.97, "residual": 0.97}
MODULES = (
    "binary_export",
    "binary_layers",
    "digits_data",
    "onnx_graph",
    "pooling",
    "qonnx_export",
    "quantised_network",
    "residual",
    "train",
    "training",
)


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


@pytest.mark.parametrize("name", NETWORKS)
def test_the_whole_held_out_set_is_the_same_after_every_step(name, tmp_path):
    model = load(name)
    expected = results(model, images(name))
    config = StepConfig(str(tmp_path), 5.0, "xczu7ev-ffvc1156-2-e", 20_000, {"*": ("rtl", "hls")})
    for step in OURS:
        model = steps[step](model, config)
        assert np.array_equal(results(model, images(name)), expected), step
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


@pytest.mark.parametrize("name", NETWORKS)
def test_the_exported_graph_computes_the_trainers_integers(name, training, tmp_path):
    import qonnx_export
    import train

    networks = {"mlp": train.build_mlp, "cnn": train.build_cnn, "residual": train.build_residual}
    network = networks[name](seed=7)
    pixels = images(name)[:32]
    integers = network.forward(pixels.reshape(32, 8, 8, 1).astype(np.float64))
    qonnx_export.export(network, tmp_path / "model.onnx")
    from qonnx.core.modelwrapper import ModelWrapper

    model = ModelWrapper(str(tmp_path / "model.onnx"))
    assert np.array_equal(logits(model, pixels), integers)
    assert np.array_equal(classes(results(model, pixels)), integers.argmax(axis=1))


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


def random_integers(seed, *shape):
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(np.float64)


def test_the_gradients_of_pools_are_exact(training):
    """A small step in the input changes the output by the gradient: none is lost, and none is counted twice."""
    import pooling

    for layer in (pooling.MaxPool("pool"), pooling.GlobalSum("mean")):
        x, step = random_integers(1, 3, 4, 4, 2), random_integers(2, 3, 4, 4, 2) / 1024
        x += np.arange(16).reshape(4, 4, 1) / 32  # so that no two values of a window are equal
        before = layer.forward(x)
        upstream = random_integers(3, *before.shape)
        gradient = layer.backward(upstream)
        change = layer.forward(x + step) - before
        assert (change * upstream).sum() == (step * gradient).sum()


def test_of_equal_values_a_max_pool_trains_the_first(training):
    import pooling

    layer = pooling.MaxPool("pool")
    x = np.array([[3.0, 3.0], [3.0, 1.0]]).reshape(1, 2, 2, 1)
    assert layer.forward(x).tolist() == [[[[3.0]]]]
    assert layer.backward(np.full((1, 1, 1, 1), 5.0)).reshape(2, 2).tolist() == [[5.0, 0.0], [0.0, 0.0]]


def test_both_ways_of_a_block_are_trained(training):
    import quantised_network
    import residual

    random = np.random.RandomState(1)
    dense = quantised_network.Dense("fc", 6, 6, bits=3, random=random)
    activation = quantised_network.Activation("fc", 6, shift=3, bits=4)
    block = residual.Residual("block", [dense, activation])
    x, upstream = random_integers(4, 5, 6), random_integers(5, 5, 6)
    assert np.array_equal(block.forward(x), activation.forward(dense.forward(x)) + x)
    through = dense.backward(activation.backward(upstream))
    assert np.array_equal(block.backward(upstream), through + upstream)
    assert block.parameters() == [*dense.parameters(), *activation.parameters()]


def test_a_block_without_an_activation_and_a_mean_that_is_rounded_are_refused(training, tmp_path):
    import pooling
    import qonnx_export
    import quantised_network
    import residual

    random = np.random.RandomState(1)
    conv = quantised_network.Conv("conv", (1, 2), stride=1, pad=0, bits=3, random=random)
    with pytest.raises(TypeError, match=r"^the last layer of block 'block' must be an Activation, not <"):
        residual.Residual("block", [conv])
    network = quantised_network.Network("odd", [conv, pooling.GlobalSum("mean")])
    network.forward(images("cnn")[:1].reshape(1, 8, 8, 1).astype(np.float64))
    with pytest.raises(ValueError, match=r"^mean: the mean of 6x6 pixels is not exact in floating point$"):
        qonnx_export.export(network, tmp_path / "odd.onnx")


def test_a_sum_that_might_be_rounded_is_refused(training):
    import quantised_network

    with pytest.raises(ArithmeticError) as caught:
        quantised_network.exact_matmul(np.full((1, 8), 2.0**26), np.full((8, 1), 2.0**26))
    assert str(caught.value) == "a product of (1, 8) and (8, 1) may need more than 53 bits"
    with pytest.raises(ArithmeticError) as caught:
        quantised_network.check_exact(np.array([2.0**53]), "block")
    assert str(caught.value) == "a sum of 'block' needs more than 53 bits"


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
