"""Verification on the device that was chosen."""

import numpy as np
import pytest

from brainsmith import targets
from brainsmith.blueprint.schema import Blueprint, PluginName, StepEntry, Verify
from brainsmith.build import build
from brainsmith.errors import BuildError, DeviceError, VerificationError
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.targets.numpy import NumpyExecution
from tests.build import graphs

X = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
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
        return super().execute(prepared, inputs, keep=keep)


@pytest.fixture(autouse=True)
def board():
    FAILURES.clear()
    targets.get_registry().register(Board)
    yield FAILURES
    reset_plugin_system()


def built(folder, steps=("cleanup",), **options):
    blueprint = Blueprint(
        "b.yaml",
        verify=Verify(targets=()),
        steps=tuple(StepEntry("step", PluginName(name)) for name in steps),
    )
    return build(graphs.quant_mlp(), blueprint, folder, verify_inputs=X, report=False, **options)


def ran_on(result):
    return [step.verified.target for step in result.steps]


def test_builds_verify_on_the_device_of_init_with_no_change(tmp_path):
    assert ran_on(built(tmp_path / "out")) == ["numpy"]
    for device, name in (("reference", "reference"), ("onnxruntime:0", "onnxruntime"), ("board", "board")):
        targets.init(device)
        result = built(tmp_path / "out", ("cleanup", "streamline"))
        assert ran_on(result) == [name, name]
        assert result.report["steps"][0]["verified"]["target"] == name
        assert result.warnings == ()


@pytest.mark.parametrize("device", ["auto", "cpu", "numpy"])
def test_array_programs_with_the_bits_of_qonnx_are_what_any_device_means(tmp_path, device):
    targets.init(device)
    assert ran_on(built(tmp_path / "out")) == ["numpy"]


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
    result = built(tmp_path / "out", ("cleanup", "streamline"))
    assert ran_on(result) == ["numpy", "numpy"]
    assert result.warnings == (
        "the device that was chosen cannot run every step's model, and array programs did instead: target 'board' "
        "cannot execute a ModelWrapper: it has no operator Quant",
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
    with pytest.raises(VerificationError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[fail], verify_inputs=X)
    assert str(caught.value).startswith(
        "what step 'fail' made of the model cannot be executed: target 'board' failed in execute: OSError: no answer"
    )


def test_a_wrong_step_is_found_on_a_device_too(tmp_path):
    def spoil(model, cfg):
        model.set_initializer("w0", model.get_initializer("w0") * 2)
        return model

    targets.init("onnxruntime")
    with pytest.raises(VerificationError, match=r"^step 'spoil' changed what the model computes: .*is 'm0'"):
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[spoil], verify_inputs=X)
