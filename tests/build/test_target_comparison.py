"""The comparison of targets in a build's report."""

import json

import numpy as np
import pytest

from brainsmith import targets
from brainsmith.blueprint.schema import Blueprint, PluginName, StepEntry, Verify
from brainsmith.build import build
from brainsmith.errors import BlueprintError
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


def test_a_target_that_disagrees_is_a_warning_that_names_the_tensor(tmp_path, off_by_one):
    result = built(tmp_path / "out", ["numpy", "off_by_one"])
    (one,) = result.report["targets"]["results"]
    assert (one["agrees"], one["worst"], one["first"]["samples"]) == (False, 1.0, 8)
    (warning,) = [text for text in result.warnings if "disagree" in text]
    assert warning == f"targets disagree: {one['told']}"
    assert one["told"].startswith("off_by_one first differs from numpy at tensor 'm1' of node ")
    assert "targets    off_by_one disagrees with numpy (8 samples)" in result.summary()


def test_the_comparison_is_kept_with_the_steps_and_made_anew_for_other_inputs(tmp_path, off_by_one):
    built(tmp_path / "one", ["numpy", "off_by_one"])
    first = len(off_by_one)
    assert first > 0
    again = built(tmp_path / "two", ["numpy", "off_by_one"])
    assert len(off_by_one) == first
    assert again.report["targets"]["results"][0]["worst"] == 1.0
    built(tmp_path / "three", ["numpy", "off_by_one"], verify_inputs=np.ones((9, 6), np.float32))
    assert len(off_by_one) == 2 * first


def test_without_the_cache_it_is_made_each_time(tmp_path, off_by_one):
    for name in ("one", "two"):
        built(tmp_path / name, ["numpy", "off_by_one"], use_cache=False)
    assert len(off_by_one) == 2


@pytest.mark.parametrize("options", [{"names": []}, {"verify": False}, {"report": False}])
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
    assert (
        "targets    reference agrees with numpy; rtlsim could not be compared (8 samples)" in result.summary()
    )


def test_names_that_are_no_targets_are_errors_of_the_blueprint(tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text("hw_compiler:\n  steps: [cleanup]\n  verify: {targets: [refrence, numpy, Numpy]}\n")
    with pytest.raises(BlueprintError) as caught:
        build(graphs.quant_mlp(), file, tmp_path / "out")
    first, second = caught.value.problems
    assert str(first).startswith(f"{file}:3:22: no target named 'refrence'. Did you mean 'reference'?")
    assert str(second) == f"{file}:3:39: target 'numpy' is listed twice: first at {file}:3:32"
