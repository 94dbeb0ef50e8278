"""The comparison of targets in a build's report."""

import json
from dataclasses import replace

import numpy as np
import pytest

from brainsmith import targets
from brainsmith.blueprint.schema import Blueprint, PluginName, StepEntry, Verify
from brainsmith.build import build, target_comparison
from brainsmith.build.artifact import Artifact
from brainsmith.comparison import compare_targets
from brainsmith.errors import BlueprintError
from brainsmith.plugin.core import get_registry
from brainsmith.targets.numpy import NumpyExecution
from tests.build import graphs

CALLS = []


class Wrong(NumpyExecution):
    """NumPy, whose outputs are off by one."""

    @classmethod
    def metadata(cls):
        return targets.PluginInfo(name="off_by_one", type="target", priority=0, device_types=("wrong",))

    def execute(self, prepared, inputs, *, keep=()):
        CALLS.append(len(next(iter(dict(inputs).values()))))
        found = super().execute(prepared, inputs, keep=keep)
        names = [spec.name for spec in prepared.signature.outputs]
        return {name: array + (name in names) for name, array in found.items()}


@pytest.fixture
def off_by_one():
    CALLS.clear()
    targets.get_registry().register(Wrong)
    yield CALLS
    targets.get_registry().unregister("off_by_one")


def built(folder, names=None, **options):
    verify = Verify(targets=None if names is None else tuple(PluginName(name) for name in names))
    rng = np.random.default_rng(0)
    options.setdefault("verify_inputs", rng.normal(size=(60, 6)).astype(np.float32))
    steps = (StepEntry("step", PluginName("cleanup")),)
    return build(graphs.quant_mlp(), Blueprint("b.yaml", verify=verify, steps=steps), folder, **options)


@pytest.mark.slow
def test_every_build_is_compared_on_the_targets_that_are_always_there(tmp_path):
    result = built(tmp_path / "out")
    found = json.loads((tmp_path / "out" / "report.json").read_text())["targets"]
    assert (found["with"], found["after"], found["samples"], found["reason"]) == ("reference", "", 8, "")
    assert [(one["target"], one["agrees"], one["outputs"]) for one in found["results"]] == [
        ("numpy", True, 1),
        ("onnxruntime", True, 1),
    ]
    assert [one["inside"] for one in found["results"]] == [3, 3]
    assert "targets    numpy, onnxruntime agree with reference (8 samples)" in result.summary()


@pytest.mark.slow
def test_a_target_that_disagrees_is_a_warning_that_names_the_tensor(tmp_path, off_by_one):
    result = built(tmp_path / "out", ["numpy", "off_by_one"])
    (one,) = result.report["targets"]["results"]
    assert (one["agrees"], one["worst"], one["first"]["samples"]) == (False, 1.0, 8)
    (warning,) = [text for text in result.warnings if "disagree" in text]
    assert warning == f"targets disagree: {one['told']}"
    assert one["told"].startswith("off_by_one first differs from numpy at tensor 'm1' of node ")
    assert "targets    off_by_one disagrees with numpy (8 samples)" in result.summary()


@pytest.mark.slow
def test_the_comparison_of_our_own_targets_is_kept_with_what_it_was_made_of(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(compare_targets, "compare_targets", noted(made, compare_targets.compare_targets))
    first = built(tmp_path / "one")
    assert len(made) == 1
    again = built(tmp_path / "two")
    assert len(made) == 1
    assert again.report["targets"] == first.report["targets"]
    built(tmp_path / "three", verify_inputs=np.ones((9, 6), np.float32))
    built(tmp_path / "four", use_cache=False)
    assert len(made) == 3


def noted(made, function):
    def call(*arguments, **options):
        made.append(arguments)
        return function(*arguments, **options)

    return call


@pytest.mark.slow
def test_that_with_others_targets_is_made_each_time(tmp_path, off_by_one):
    for name in ("one", "two"):
        built(tmp_path / name, ["numpy", "off_by_one"])
    assert len(off_by_one) == 2


@pytest.mark.parametrize(
    ("domain", "is_kept"), [("", True), ("finn.custom_op.fpgadataflow.rtl", True), ("my_operators", False)]
)
def test_that_of_a_plugin_s_operator_is_made_each_time(tmp_path, domain, is_kept):
    """Nobody knows what such an operator reads when it is executed."""
    model = graphs.quant_mlp()
    model.graph.node[-1].domain = domain
    compared = {"results": [{"reason": ""}], "reason": ""}
    numpy = get_registry().resolve("target", "numpy")
    kept = target_comparison.KeptComparison(tmp_path, Artifact.of(model), [numpy])
    kept.save("fingerprint", {"x": np.zeros(1)}, compared)
    assert kept.load("fingerprint", {"x": np.zeros(1)}) == (compared if is_kept else None)


@pytest.mark.parametrize("options", [{"names": []}, {"verify": False}, {"report": False}])
@pytest.mark.slow
def test_there_is_none_where_it_is_not_wanted(tmp_path, options):
    if options.get("verify") is False:
        options = {**options, "verify_inputs": None}
    assert built(tmp_path / "out", **options).report["targets"] is None


def test_a_target_that_cannot_be_used_is_named_with_the_reason(tmp_path):
    result = built(tmp_path / "out", ["numpy", "rtlsim", "reference"])
    simulation, reference = result.report["targets"]["results"]
    assert simulation["reason"].startswith(
        "target 'rtlsim' cannot execute the build's folder: rtlsim runs the folder of a build with an accelerator, and "
        "the build's folder holds none: "
    )
    assert reference["agrees"]
    line = "targets    reference agrees with numpy; rtlsim could not be compared (8 samples)"
    assert line in result.summary()
    assert (simulation["agrees"], simulation["outputs"], simulation["worst"]) == (None, None, None)
    (warning,) = result.warnings
    assert warning == f"target 'rtlsim' was not compared: {simulation['reason']}"


@pytest.mark.parametrize(
    "what",
    ["exit", *(pytest.param(other, marks=pytest.mark.slow) for other in ("cleanup", "signature", "nothing"))],
)
def test_a_finished_build_is_not_lost_to_a_target(tmp_path, off_by_one, monkeypatch, what):
    def leave(*arguments, **options):
        raise SystemExit(3)

    def fail(self):
        raise OSError("stuck")

    def odd(self, resource, config=None):
        prepared = NumpyExecution.prepare_resource(self, resource, config)
        return replace(prepared, signature=replace(prepared.signature, inputs=prepared.signature.inputs * 2))

    method, function = {
        "exit": ("execute", leave),
        "cleanup": ("cleanup", fail),
        "signature": ("prepare_resource", odd),
        "nothing": ("execute", lambda *arguments, **options: None),
    }[what]
    monkeypatch.setattr(Wrong, method, function)
    for names in (["off_by_one", "numpy"], ["numpy", "off_by_one"]):
        result = built(tmp_path / "out", names)
        assert result.model.is_file()
        told = {
            "exit": "target 'off_by_one' failed in execute: SystemExit: 3",
            "cleanup": "target 'off_by_one' failed in cleanup: OSError: stuck",
            "signature": "its signature says that the model has 2 inputs"
            if names[0] == "off_by_one"
            else "target 'off_by_one' runs another model: it has 2 inputs, and the original 1",
            "nothing": "target 'off_by_one' must return its outputs by name",
        }[what]
        assert any(told in warning for warning in result.warnings), result.warnings
    if what == "cleanup":
        assert result.report["targets"]["results"][0]["agrees"] is False


def test_one_target_that_is_left_is_said(tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text("hw_compiler:\n  steps: [cleanup]\n  verify: {targets: [numpy, ~missing]}\n")
    result = build(graphs.quant_mlp(), file, tmp_path / "out")
    assert result.report["targets"]["reason"] == "there is no target here to compare 'numpy' with"
    assert "targets were not compared: there is no target here to compare 'numpy' with" in result.warnings


@pytest.mark.slow
def test_a_step_that_changes_outputs_as_its_tolerance_allows_is_what_is_compared(tmp_path):
    def nudge(model, cfg):
        model.set_initializer("w1", model.get_initializer("w1") + 0.6)
        return model

    blueprint = Blueprint("b.yaml", verify=Verify(tolerance={"*": 1000.0}))
    inputs = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
    result = build(graphs.quant_mlp(), blueprint, tmp_path / "out", steps=[nudge], verify_inputs=inputs)
    assert result.report["targets"]["after"] == "nudge"
    assert [one["agrees"] for one in result.report["targets"]["results"]] == [True, True]


def test_names_that_are_no_targets_are_errors_of_the_blueprint(tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text("hw_compiler:\n  steps: [cleanup]\n  verify: {targets: [refrence, numpy, Numpy]}\n")
    with pytest.raises(BlueprintError) as caught:
        build(graphs.quant_mlp(), file, tmp_path / "out")
    first, second = caught.value.problems
    assert str(first).startswith(f"{file}:3:22: no target named 'refrence'. Did you mean 'reference'?")
    assert str(second) == f"{file}:3:39: target 'numpy' is listed twice: first at {file}:3:32"
