"""The encoder: its graph computes what the trainer does, and the figures beside it are true."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.autodiff.primitives.normalisations import LAYER_NORM
from brainsmith.execution.execute import Executor
from brainsmith.ops import Tensor, gradcheck

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "encoder"


@pytest.fixture
def trainer(monkeypatch):
    """The example's modules, importable as they are for its script, which has the digits' beside its own."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "digits"))
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("export", "layers", "network", "ops", "training")
    yield {name: import_module(f"encoder_{name}") for name in names}
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "examples")):
            del sys.modules[name]


def digits(count):
    """Return the data set with so many images to train with."""
    from digits_data import load

    whole = load()
    return whole._replace(train_x=whole.train_x[:count], train_y=whole.train_y[:count])


def trained(trainer, seed, count):
    network = trainer["network"].Encoder(seed=seed)
    schedule = trainer["training"].Schedule(epochs=1, seed=seed, temperature=16.0, rate=0.01)
    trainer["training"].train(network, digits(count), schedule)
    return network


def saved(name):
    return np.load(FOLDER / f"encoder_{name}.npy")


def logits(model, images):
    (found,) = Executor(model).run({"image": images.astype(np.float32)[:, None]}).values()
    return found.reshape(len(images), -1)


@pytest.mark.slow
def test_the_exported_graph_has_the_stated_accuracy_and_distance():
    stated = json.loads((FOLDER / "accuracy.json").read_text(encoding="utf-8"))
    found = logits(ModelWrapper(str(FOLDER / "encoder.onnx")), saved("x"))
    exact, labels = saved("float_y"), saved("y")
    assert found.shape == exact.shape == (360, 10)
    assert int((found.argmax(axis=1) == labels).sum()) == stated["test_correct"] >= 0.9 * 360
    assert int((exact.argmax(axis=1) == labels).sum()) == stated["float_test_correct"]
    assert int((found.argmax(axis=1) == exact.argmax(axis=1)).sum()) == stated["float_agreement"]
    errors = np.abs(found - exact)
    assert float(errors.max()) == pytest.approx(stated["float_max_error"], abs=1e-3)
    assert float(errors.mean()) == pytest.approx(stated["float_mean_error"], abs=1e-3)


@pytest.mark.slow
def test_the_graph_computes_what_the_trainer_does(trainer, tmp_path):
    network = trained(trainer, seed=3, count=256)
    images = saved("x")[:12].astype(np.float64)
    expected = network.compute(images)
    trainer["export"].export(network, tmp_path / "encoder.onnx")
    model = ModelWrapper(str(tmp_path / "encoder.onnx"))
    np.testing.assert_array_equal(logits(model, images), expected)
    one = execute_onnx(model, {"image": images[:1].astype(np.float32)})["logits"]
    np.testing.assert_array_equal(one, expected[:1])
    assert len(np.unique(expected.argmax(axis=1))) > 1


@pytest.mark.slow
def test_training_again_gives_the_same_bytes(trainer, tmp_path):
    written = []
    for name in ("once", "again"):
        trainer["export"].export(trained(trainer, seed=1, count=128), tmp_path / f"{name}.onnx")
        written.append((tmp_path / f"{name}.onnx").read_bytes())
    assert written[0] == written[1]


def named_layers(layer):
    """Yield the layers that have parameters of their own."""
    for part in layer.layers:
        yield from named_layers(part) if hasattr(part, "layers") else (part,)


@pytest.mark.slow
def test_the_committed_graph_is_what_the_tape_of_the_trained_network_gives(trainer, tmp_path):
    """Give a network the weights and biases of the graph, which rounding does not change."""
    graph = ModelWrapper(str(FOLDER / "encoder.onnx"))
    network = trainer["network"].Encoder(seed=1)
    for layer in named_layers(network):
        for name, parameter in layer.named_parameters():
            values = graph.get_initializer(f"{layer.name}_{name}")
            # The -0 that a small negative weight became would become 0.
            parameter.data = np.where((values == 0) & np.signbit(values), -1e-9, values)
    trainer["export"].export(network, tmp_path / "encoder.onnx")
    assert (tmp_path / "encoder.onnx").read_bytes() == (FOLDER / "encoder.onnx").read_bytes()


@pytest.mark.slow
def test_every_parameter_gets_a_gradient_from_the_tape(trainer):
    network = trained(trainer, seed=3, count=128)
    images, labels = saved("x")[:64].astype(np.float64), saved("y")[:64]
    assert all(parameter.grad is None for parameter in network.parameters())
    Tensor.apply(
        trainer["ops"].ClassLoss(), [network(Tensor(images)), labels], {"temperature": 16.0}
    ).backward()
    gradients = {name: parameter.grad for name, parameter in network.named_parameters()}
    assert all(gradient is not None and gradient.any() for gradient in gradients.values())
    assert sum(latent.tensor.size for latent in network.latents()) == sum(
        p.size for p in network.parameters()
    )


def test_gradients_are_those_of_the_surrogates(trainer):
    ops, random = trainer["ops"], np.random.default_rng(0)
    x = random.standard_normal((2, 3, 4))
    scale, bias = (part.astype(np.float32).astype(np.float64) for part in random.uniform(0.5, 2.0, (2, 4)))
    gradcheck(ops.StraightQuant(), [x, 0.25, 0.0, 4.0], attributes={"signed": False})
    gradcheck(ops.ClassLoss(), [3.0 * x[0], np.array([3, 0, 1])], attributes={"temperature": 2.0})
    norm = ops.StoredLayerNorm()
    gradient = norm.backward(np.ones((2, 3, 4)), [x, scale, bias], None, epsilon=1e-5)
    whole = LAYER_NORM.backward(np.ones((2, 3, 4)), [x, scale, bias], None, epsilon=1e-5)
    assert all(np.array_equal(one, other) for one, other in zip(gradient, whole, strict=True))


def test_an_unsigned_activations_gradient_reaches_to_where_rounding_ends(trainer):
    from training_ops import ActivationQuant

    x = np.array([-0.51, -0.49, 0.3, 3.49, 3.51])
    inputs = [x, np.array(1.0), np.array(0.0), np.array(2.0)]
    (found, *_) = ActivationQuant().backward(np.ones(5), inputs, x, signed=False, narrow=False)
    assert found.tolist() == [0, 1, 1, 1, 0]


def test_a_norms_parameters_are_used_as_a_graph_stores_them(trainer):
    x, scale, bias = np.arange(4.0)[None], np.full(4, 0.1), np.full(4, 0.3)
    found = trainer["ops"].StoredLayerNorm().forward(x, scale, bias, epsilon=1e-5)
    held = (part.astype(np.float32) for part in (scale, bias))
    assert np.array_equal(found, LAYER_NORM.forward(x, *held, epsilon=1e-5))
    assert not np.array_equal(found, LAYER_NORM.forward(x, scale, bias, epsilon=1e-5))


def test_a_fork_adds_gradients_in_the_order_of_its_readers(trainer):
    x = Tensor(np.zeros(1), requires_grad=True)
    parts = [1e16, 1.0, -1e16]
    ways = Tensor.apply(trainer["ops"].Fork(), [x])
    sum(way * part for way, part in zip(ways, parts, strict=True)).backward()
    assert x.grad.tolist() == [1e16 + 1.0 - 1e16]


def test_a_bias_keeps_sums_off_the_halves(trainer):
    layers = trainer["layers"]
    quantiser = layers.Quantiser("q", (4,), 0.25, layers.Grid(4, 1.0))
    quantiser.latent.data = np.asarray([-1.0, 0.1, 0.25, 3.9])
    sums = np.arange(-40, 40)[:, None] * 0.25
    scaled = sums + quantiser.bias().numpy()
    assert np.all(np.abs(scaled - np.floor(scaled) - 0.5) >= 0.125)
    with pytest.raises(ValueError, match=r"^q: a scale of 1\.0 leaves no bit to round from units of 1\.0$"):
        layers.Quantiser("q", (4,), 1.0, layers.Grid(4, 1.0))


def test_only_standard_operators_and_quantisers():
    model = ModelWrapper(str(FOLDER / "encoder.onnx"))
    found = {(node.domain, node.op_type) for node in model.graph.node}
    names = (
        "Add",
        "LayerNormalization",
        "MatMul",
        "Mul",
        "ReduceMean",
        "Relu",
        "Reshape",
        "Softmax",
        "Transpose",
    )
    assert found == {("", name) for name in names} | {("qonnx.custom_op.general", "Quant")}
    assert helper.printable_type(model.graph.input[0].type).startswith("FLOAT")
