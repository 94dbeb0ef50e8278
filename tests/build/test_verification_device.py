"""Verification on the device that was chosen."""

import json
from dataclasses import replace

import numpy as np
import pytest
from onnx import helper

from brainsmith import targets
from brainsmith.blueprint.schema import Blueprint, Verify
from brainsmith.build import build
from brainsmith.build.verification_device import _DeviceExecutor
from brainsmith.errors import BuildError, DeviceError, UnsupportedResourceError, VerificationError
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.targets.numpy import NumpyExecution
from tests.build import graphs

X = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
BLUEPRINT = Blueprint("b.yaml", verify=Verify(targets=()))
FAILURES = []


class Board(NumpyExecution):
    """A target of somebody's, which fails where it is told to."""

    @classmethod
    def metadata(cls):
        return targets.PluginInfo(name="board", type="target", priority=60, device_types=("board",))

    def supports(self, resource):
        return "it has no operator Quant" if "supports" in FAILURES else ""

    def execute(self, prepared, inputs, *, keep=()):
        if "execute" in FAILURES:
            raise OSError("no answer")
        found = super().execute(prepared, inputs, keep=keep)
        if "zeros" in FAILURES or ("later" in FAILURES and "spoilt" in FAILURES):
            return {name: np.zeros_like(array) for name, array in found.items()}
        if "huge" in FAILURES:
            return {name: array + 1e9 for name, array in found.items()}
        if "halves" in FAILURES:
            return {name: array / 2 for name, array in found.items()}
        return found


@pytest.fixture(autouse=True)
def board():
    FAILURES.clear()
    targets.get_registry().register(Board)
    yield FAILURES
    reset_plugin_system()


def first(model, cfg):
    return model


def second(model, cfg):
    return model


def built(folder, steps=(first,)):
    options = {"verify_inputs": X, "report": False, "use_cache": False}
    return build(graphs.quant_mlp(), BLUEPRINT, folder, steps=steps, **options)


def ran_on(result):
    return [step.verified.target for step in result.steps]


@pytest.mark.slow
def test_builds_verify_on_the_device_of_init_with_no_change(tmp_path):
    assert ran_on(built(tmp_path / "out")) == ["numpy"]
    for device, name in (("reference", "reference"), ("onnxruntime:0", "onnxruntime"), ("board", "board")):
        targets.init(device)
        result = built(tmp_path / "out", (first, second))
        assert ran_on(result) == [name, name]
        assert result.report["steps"][0]["verified"]["target"] == name
        assert result.warnings == ()


@pytest.mark.parametrize("device", ["auto", "cpu", "numpy"])
@pytest.mark.slow
def test_array_programs_with_the_bits_of_qonnx_are_what_any_device_means(tmp_path, device):
    targets.init(device)
    assert ran_on(built(tmp_path / "out")) == ["numpy"]


@pytest.mark.slow
def test_the_setting_is_a_choice_too(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_DEVICE", "onnxruntime")
    reset_plugin_system()
    assert ran_on(built(tmp_path / "out")) == ["onnxruntime"]
    targets.init("reference")
    assert ran_on(built(tmp_path / "out")) == ["reference"]


def test_a_device_that_there_is_not_is_told_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_DEVICE", "nosuch")
    reset_plugin_system()
    with pytest.raises(DeviceError, match=r"^there is no device 'nosuch'"):
        built(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_a_device_does_not_support_runs_as_array_programs_and_that_is_said(tmp_path, board):
    targets.init("board")
    board.append("supports")
    result = built(tmp_path / "out", (first, second))
    assert ran_on(result) == ["numpy", "numpy"]
    assert result.warnings == (
        "the input model, step 'first', step 'second' did not run on the device that was chosen, but as array "
        "programs: target 'board' cannot execute it: it has no operator Quant",
    )


def test_a_device_that_fails_at_the_input_model_ends_the_build(tmp_path, board):
    targets.init("board")
    board.append("execute")
    with pytest.raises(BuildError, match=r"^target 'board' failed in execute: OSError: no answer"):
        built(tmp_path / "out")


def test_a_device_that_fails_later_is_named_with_the_step(tmp_path, board):
    def fail(model, cfg):
        board.append("execute")
        return model

    targets.init("board")
    with pytest.raises(BuildError) as caught:
        built(tmp_path / "out", [fail])
    first, *_ = str(caught.value).partition(" (/")
    assert not isinstance(caught.value, VerificationError)
    assert first == (
        "what step 'fail' made of the model could not be verified: target 'board' failed in execute: OSError: no answer"
    )
    assert (
        "the device that was chosen failed, not the step; with BRAINSMITH_DEVICE=auto array programs verify"
        in str(caught.value)
    )


def spoil(model, cfg):
    model.set_initializer("w0", model.get_initializer("w0") * 2)
    return model


@pytest.mark.slow
def test_a_wrong_step_is_found_on_a_device_too(tmp_path):
    targets.init("onnxruntime")
    with pytest.raises(VerificationError, match=r"^step 'spoil' changed what the model computes: .*is 'm0'"):
        built(tmp_path / "out", [spoil])
    assert caught_step(tmp_path) == "spoil"


def caught_step(folder):
    """Return which step the report of a failed build blames."""
    return json.loads((folder / "out" / "failed" / "report.json").read_text())["error"]["step"]


@pytest.mark.parametrize("how", ["zeros", "huge"])
def test_a_device_that_is_wrong_verifies_nothing(tmp_path, board, how):
    targets.init("board")
    board.append(how)
    result = built(tmp_path / "out", (first, second))
    assert ran_on(result) == ["numpy", "numpy"]
    (warning,) = result.warnings
    assert warning.startswith(
        "target 'board' does not compute the input model: 8 of 8 samples differ from QONNX's, worst at "
    )
    assert warning.endswith("; all was verified by array programs instead")
    with pytest.raises(VerificationError, match=r"^step 'spoil' changed what the model computes"):
        built(tmp_path / "out", [spoil])


@pytest.mark.slow
def test_a_device_that_is_wrong_about_a_right_step_is_blamed_itself(tmp_path, board):
    def right(model, cfg):
        board.append("spoilt")
        return model

    targets.init("board")
    board.append("later")
    result = built(tmp_path / "out", [first, right, second])
    assert ran_on(result) == ["board", "numpy", "numpy"]
    (warning,) = result.warnings
    assert warning.startswith(
        "target 'board' does not compute the result of step 'right': 20 of 20 samples differ from QONNX's, worst at "
    )


@pytest.mark.slow
def test_a_device_on_which_a_wrong_step_looks_right_does_not_verify_it(tmp_path, board):
    def spoil_both(model, cfg):
        board.append("halves")
        model.graph.node[-1].output[0] = "half"
        model.graph.node.append(helper.make_node("Add", ["half", "half"], ["m1"]))
        return model

    targets.init("board")
    with pytest.raises(VerificationError, match=r"^step 'spoil_both' changed what the model computes"):
        built(tmp_path / "out", [spoil_both])


def test_what_a_device_says_of_other_outputs_is_told():
    model = graphs.quant_mlp()
    with targets.ResourceManager({"device": "numpy"}) as manager:
        prepared = manager.prepare_resource(model)
        stated = replace(prepared, signature=replace(prepared.signature, outputs=()))
        with pytest.raises(UnsupportedResourceError) as caught:
            _DeviceExecutor(manager, stated, model, None)
    assert str(caught.value) == "its target says that the outputs are {}, and the model's are {'m1': (1, 3)}"


@pytest.mark.slow
def test_what_a_device_says_of_other_inputs_is_not_believed(tmp_path, board, monkeypatch):
    def prepare_resource(self, resource, config=None):
        prepared = NumpyExecution.prepare_resource(self, resource, config)
        return replace(prepared, signature=replace(prepared.signature, outputs=()))

    monkeypatch.setattr(Board, "prepare_resource", prepare_resource, raising=False)
    targets.init("board")
    result = built(tmp_path / "out")
    assert ran_on(result) == ["numpy"]
    assert result.warnings[0].endswith(
        "its target says that the outputs are {}, and the model's are {'m1': (1, 3)}"
    )


@pytest.mark.slow
def test_in_blueprint_mode_the_device_that_was_chosen_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    monkeypatch.setenv("BRAINSMITH_DEVICE", "onnxruntime:0")
    reset_plugin_system()
    assert ran_on(built(tmp_path / "out")) == ["onnxruntime"]
