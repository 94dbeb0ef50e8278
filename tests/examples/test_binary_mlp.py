"""The 1-bit digits MLP: accurate, exact in every step of a build, reproducible, and a circuit at its rate."""

import json
from pathlib import Path

import numpy as np
import pytest

from brainsmith.build import build
from brainsmith.build.config import StepConfig
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "digits"
BLUEPRINT = ROOT / "blueprints" / "digits_binary_mlp_rtl.yaml"
LEAST_ACCURACY = 0.95
FRONT_END = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold")


def load():
    from qonnx.core.modelwrapper import ModelWrapper

    return ModelWrapper(str(FOLDER / "binary_mlp.onnx"))


def images():
    return np.load(FOLDER / "digits_mlp_x.npy")


def predictions(model):
    executor = Executor(model)
    pixels = images().reshape(360, *executor.shape(executor.inputs[0])).astype(np.float32)
    output = model.graph.output[0].name
    return executor.run({executor.inputs[0]: pixels}, keep=frozenset([output]))[output].reshape(-1)


def test_the_stated_accuracy_is_what_the_graph_computes():
    stated = json.loads((FOLDER / "accuracy.json").read_text())["binary_mlp"]
    correct = int((predictions(load()) == np.load(FOLDER / "digits_y.npy")).sum())
    assert correct == stated["test_correct"]
    assert stated["test_accuracy"] == round(correct / 360, 4) >= LEAST_ACCURACY


def test_weights_and_hidden_activations_have_one_bit():
    model = load()
    assert len(model.get_nodes_by_op_type("BipolarQuant")) == 5
    for name in ("fc1_weight", "fc2_weight", "fc3_weight"):
        assert set(np.unique(model.get_initializer(name))) == {-1.0, 1.0}


@pytest.mark.slow
def test_the_whole_held_out_set_is_the_same_after_every_step(tmp_path):
    model = load()
    expected = predictions(model)
    config = StepConfig(str(tmp_path), 5.0, "xczu7ev-ffvc1156-2-e", 1_000_000, {"*": ("rtl",)})
    for step in FRONT_END:
        model = steps[step](model, config)
        assert np.array_equal(predictions(model), expected), step
    assert [node.op_type for node in model.graph.node] == [
        "Thresholding_rtl", *["BinaryMVAU_rtl", "Thresholding_rtl"] * 2, "BinaryMVAU_rtl", "LabelSelect_rtl",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_circuit_computes_all_labels_at_the_estimated_rate(tmp_path):
    result = build(FOLDER / "binary_mlp.onnx", BLUEPRINT, tmp_path / "out")
    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["frames"], found["mismatches"], found["stalled_mismatches"]) == (360, 0, 0)
    assert found["interval_cycles"] == found["interval_estimate"]
    assert (result.output / "accelerator").is_dir()
    accuracy = result.report["accuracy"]
    stated = json.loads((FOLDER / "accuracy.json").read_text())["binary_mlp"]
    assert accuracy["before"] == accuracy["after"] == stated["test_correct"] / 360
