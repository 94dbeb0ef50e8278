"""Networks of Brevitas as they were exported: built with a blueprint of three lines, they give torch's outputs."""

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from brainsmith.build import build
from brainsmith.execution.execute import Executor
from brainsmith.execution.read_model import read_model
from brainsmith.plugins import steps
from brainsmith.targets import ResourceManager

FOLDER = Path(__file__).parents[1] / "exports"
NAMES = ("jet_mlp", "kws_small", "resnet_block")
BLUEPRINT = """\
hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: 50000}
  output: simulated
"""
RELATIVE = 1e-5
"""Of the largest output: torch rounds the last layer's sums in another order."""


def inputs(name):
    return np.load(FOLDER / f"{name}_x.npy").astype(np.float32)


def check_equal_to_torch(found, name, count=None):
    expected = np.load(FOLDER / f"{name}_y.npy")[:count]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=RELATIVE * np.abs(expected).max())


def layers(model):
    return steps.integer(steps.cleanup(read_model(model), None), None)


def run(model, samples):
    executor = Executor(model)
    stack = samples.reshape(len(samples), *executor.shape(executor.inputs[0]))
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]].reshape(len(samples), -1)


@pytest.mark.builds
@pytest.mark.parametrize("name", NAMES)
def test_layers_of_integers_give_what_torch_computes(name):
    check_equal_to_torch(run(layers(FOLDER / f"{name}.onnx"), inputs(name)), name)


def without_names(model):
    for node in model.graph.node:
        node.name = ""
    return model


def constants_as_nodes(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    varying = [value for value in model.graph.input if value.name not in constants]
    nodes = [
        helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in model.graph.initializer
    ]
    kept = list(model.graph.node)
    del model.graph.node[:], model.graph.initializer[:], model.graph.input[:]
    model.graph.node.extend([*nodes, *kept])
    model.graph.input.extend(varying)
    return model


def open_batch(model):
    for value in (model.graph.input[0], *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    return model


@pytest.mark.builds
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [without_names, constants_as_nodes, open_batch])
def test_what_exporters_write_differently_changes_nothing(name, change):
    """Other versions of torch and Brevitas leave nodes without names, constants as nodes, and the batch open."""
    model = change(onnx.load(FOLDER / f"{name}.onnx"))
    check_equal_to_torch(run(layers(model), inputs(name)[:4]), name, 4)


@pytest.mark.builds
def test_weights_may_be_in_a_file_beside_the_model(tmp_path):
    name = "kws_small"
    file = tmp_path / "kws.onnx"
    onnx.save(
        onnx.load(FOLDER / f"{name}.onnx"),
        file,
        save_as_external_data=True,
        location="kws.onnx.data",
        size_threshold=0,
    )
    assert {each.data_location for each in onnx.load(file, load_external_data=False).graph.initializer} == {1}
    check_equal_to_torch(run(layers(file), inputs(name)[:4]), name, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_blueprint_of_three_lines_gives_a_circuit_that_computes_what_torch_does(name, tmp_path):
    blueprint = tmp_path / "blueprint.yaml"
    blueprint.write_text(BLUEPRINT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = build(FOLDER / f"{name}.onnx", blueprint, tmp_path / "out")
    rtl = result.report["rtl"]
    assert rtl["mismatches"] == 0
    assert rtl["interval_cycles"] == rtl["interval_estimate"]
    samples = inputs(name)[:8]
    with ResourceManager({"device": "rtlsim"}) as manager:
        circuit = manager.prepare_resource(str(result.output), device="rtlsim")
        (found,) = manager.execute(circuit, {circuit.signature.inputs[0].name: samples}).values()
    check_equal_to_torch(found.reshape(len(samples), -1), name, len(samples))
