"""The encoder: its graph computes what the trainer does, and the figures beside it are true."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.execution.execute import Executor

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "encoder"


@pytest.fixture(scope="module")
def trainer():
    """The example's modules; they are scripts beside each other and no package."""
    places = [str(FOLDER), str(ROOT / "examples" / "digits")]
    before = set(sys.modules)
    sys.path[:0] = places
    try:
        import encoder_export
        import encoder_layers
        import encoder_network
        import encoder_training
        import train_encoder

        yield {
            "export": encoder_export, "layers": encoder_layers, "network": encoder_network,
            "training": encoder_training, "script": train_encoder,
        }  # fmt: skip
    finally:
        for place in places:
            sys.path.remove(place)
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "examples")):
                del sys.modules[name]


def saved(name):
    return np.load(FOLDER / f"encoder_{name}.npy")


def logits(model, images):
    (found,) = Executor(model).run({"image": images.astype(np.float32)[:, None]}).values()
    return found.reshape(len(images), -1)


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


def test_the_graph_computes_what_the_trainer_does(trainer, tmp_path):
    network = trainer["network"].Encoder(seed=3)
    digits = trainer["script"].load()
    schedule = trainer["training"].Schedule(epochs=1, seed=3, temperature=16.0, rate=0.01)
    few = digits._replace(train_x=digits.train_x[:256], train_y=digits.train_y[:256])
    trainer["training"].train(network, few, schedule)
    trainer["export"].export(network, tmp_path / "encoder.onnx")
    model = ModelWrapper(str(tmp_path / "encoder.onnx"))
    images = digits.test_x[:12, ..., 0]
    expected = network.forward(images)
    np.testing.assert_array_equal(logits(model, images), expected)
    one = execute_onnx(model, {"image": images[:1].astype(np.float32)})["logits"]
    np.testing.assert_array_equal(one, expected[:1])
    assert len(np.unique(expected.argmax(axis=1))) > 1


def test_training_again_gives_the_same_bytes(trainer, tmp_path):
    digits = trainer["script"].load()
    few = digits._replace(train_x=digits.train_x[:128], train_y=digits.train_y[:128])
    written = []
    for name in ("once", "again"):
        network = trainer["network"].Encoder(seed=1)
        schedule = trainer["training"].Schedule(epochs=1, seed=1, temperature=16.0, rate=0.01)
        trainer["training"].train(network, few, schedule)
        trainer["export"].export(network, tmp_path / f"{name}.onnx")
        written.append((tmp_path / f"{name}.onnx").read_bytes())
    assert written[0] == written[1]


def test_gradients_are_those_of_the_unrounded_function(trainer):
    """Check the backward passes by finite differences, on a grid so fine that rounding does not count."""
    layers = trainer["layers"]
    random = np.random.RandomState(0)
    fine = layers.Grid(40, 2.0**-32)
    x = random.standard_normal((2, 3, 4))
    weight = random.standard_normal((2, 3, 4))
    norm = layers.LayerNorm("norm", 4, fine)
    norm.scale.value = np.asarray([0.5, 1.0, 1.5, 2.0])
    softmax = layers.Softmax("softmax", layers.Grid(40, 2.0**-40, signed=False))
    for layer in (norm, softmax):
        layer.forward(x, quantised=True)
        found = layer.backward(weight)
        step = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            step[at] = 1e-3
            up, down = (layer.forward(x + side * step, quantised=True) for side in (1, -1))
            step[at] = 0.0
            assert found[at] == pytest.approx(((up - down) * weight).sum() / 2e-3, abs=1e-4)


def test_a_bias_keeps_sums_off_the_halves(trainer):
    layers = trainer["layers"]
    quantiser = layers.Quantiser("q", (4,), 0.25, layers.Grid(4, 1.0))
    quantiser.latent.value = np.asarray([-1.0, 0.1, 0.25, 3.9])
    sums = np.arange(-40, 40)[:, None] * 0.25
    scaled = sums + quantiser.bias
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
