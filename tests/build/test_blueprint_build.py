"""Builds from a blueprint of a project with plugins of its own."""

import re
import textwrap

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build import build
from brainsmith.errors import BlueprintError, BuildError, ModelError, PluginLoadError, VerificationError
from brainsmith.plugins import transforms
from tests.build import graphs

PASS = """
    import numpy as np
    from qonnx.transformation.base import Transformation
    from brainsmith.plugin.core import transform

    @transform(name="ScaleFirst", stage="tuning")
    class ScaleFirst(Transformation):
        def __init__(self, factor=1.0):
            super().__init__()
            self.factor = factor

        def apply(self, model):
            model.set_initializer("w0", model.get_initializer("w0") * np.float32(self.factor))
            return model, False
"""
BROKEN = """
    from brainsmith.plugin.core import step
    import no_such_library

    @step(name="broken")
    def broken(model, cfg):
        return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    monkeypatch.chdir(folder)
    graphs.quant_mlp().save(str(folder / "m.onnx"))
    data = graphs.samples(graphs.quant_mlp())
    np.save(folder / "x.npy", data)
    plugin(folder, "scale_first.py", PASS)
    return folder


def plugin(folder, name, source):
    (folder / "plugins" / name).write_text(textwrap.dedent(source))


def blueprint(folder, steps, extra=""):
    file = folder / "b.yaml"
    file.write_text(f"hw_compiler:\n  steps: {steps}\n  verify: {{inputs: x.npy{extra}}}\n")
    return file


def run(folder, file, output="out"):
    return build(folder / "m.onnx", file, folder / output)


@pytest.mark.slow
def test_a_transform_of_the_project_runs_and_is_reported(project):
    result = run(project, blueprint(project, "[cleanup, {transform: ScaleFirst, args: {factor: 1.0}}]"))
    assert [(step.name, step.framework) for step in result.steps] == [
        ("cleanup", "brainsmith"),
        ("ScaleFirst", "project"),
    ]
    assert all(step.verified.samples == 40 for step in result.steps)
    mine = [entry for entry in result.report["plugins"] if entry["framework"] == "project"]
    assert [(entry["name"], entry["loaded"]) for entry in mine] == [("ScaleFirst", True)]
    assert mine[0]["origin"] == f"{project}/plugins/scale_first.py:6"
    assert result.report["blueprint"]["file"] == str(project / "b.yaml")


@pytest.mark.slow
def test_an_edited_plugin_is_run_again(project):
    file = blueprint(project, "[{transform: ScaleFirst, args: {factor: 1.0}}]")
    run(project, file)
    assert run(project, file).steps[0].reused
    plugin(project, "scale_first.py", PASS.replace("return model, False", "return (model, False)"))
    result = run(project, file)
    assert (result.steps[0].reused, result.steps[0].cache) == (
        False,
        f"its source changed, {project / 'plugins' / 'scale_first.py'} changed",
    )


@pytest.mark.slow
def test_other_arguments_run_again_and_are_verified(project):
    run(project, blueprint(project, "[{transform: ScaleFirst, args: {factor: 1.0}}]"))
    file = blueprint(project, "[{transform: ScaleFirst, args: {factor: 2.0}}]")
    with pytest.raises(VerificationError, match=r"^step 'ScaleFirst' changed what the model computes: "):
        run(project, file)
    generous = blueprint(
        project, "[{transform: ScaleFirst, args: {factor: 2.0}}]", ", tolerance: {ScaleFirst: 1000}"
    )
    result = run(project, generous)
    assert re.fullmatch(
        r"nothing that it depends on changed; key [0-9a-f]{12}, made less than a minute ago by the build of "
        rf"{re.escape(str(project))}/m.onnx with {re.escape(str(file))} in {re.escape(str(project / 'out'))}",
        result.steps[0].cache,
    )
    assert result.steps[0].verified.max_error > 0.1


@pytest.mark.slow
def test_a_plugin_whose_import_fails_shows_its_own_error(project):
    plugin(project, "broken.py", BROKEN)
    file = blueprint(project, "[cleanup, broken]")
    with pytest.raises(PluginLoadError) as caught:
        run(project, file)
    message = str(caught.value)
    assert message.startswith(
        f"step 'project:broken' ({project}/plugins/broken.py:5) cannot be loaded: importing "
    )
    assert (
        f"ModuleNotFoundError: No module named 'no_such_library' ({project}/plugins/broken.py:3)" in message
    )
    assert not (project / "out").exists()
    assert run(project, blueprint(project, "[cleanup]")).steps[0].name == "cleanup"


@pytest.mark.slow
def test_blueprint_errors_come_before_any_work(project):
    file = blueprint(project, "[cleenup, streamline]", ", labels: nowhere.npy")
    with pytest.raises(BlueprintError) as caught:
        run(project, file)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{file}:2:11: no step named 'cleenup'")
    assert any("nowhere.npy" in line for line in lines)
    with pytest.raises(ModelError):
        build(graphs.float_mlp(), file, project / "out")
    assert not (project / "out").exists()


def test_a_tolerance_and_labels_that_do_not_fit(project):
    np.save(project / "y.npy", np.zeros(3, int))
    with pytest.raises(BuildError, match=r"y\.npy holds 3 labels for 40 inputs: one each is needed$"):
        run(project, blueprint(project, "[cleanup]", ", labels: y.npy"))
    assert not (project / "out").exists()


@pytest.mark.slow
def test_arguments_take_the_place_of_the_blueprints_golden_data(project):
    file = blueprint(project, "[cleanup]")
    result = build("m.onnx", file, "out", verify_inputs=np.zeros((3, 6)), verify_labels=np.zeros(3))
    assert result.report["accuracy"]["samples"] == 3
    assert ModelWrapper("out/model.onnx").graph.node[0].op_type == "Quant"


@pytest.mark.slow
def test_in_blueprint_mode_only_what_it_names_is_seen(project, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    result = run(project, blueprint(project, "[cleanup, {transform: ScaleFirst, args: {factor: 1.0}}]"))
    assert [step.name for step in result.steps] == ["cleanup", "ScaleFirst"]
    assert [info.qualified for info in transforms.list_plugins()] == ["project:ScaleFirst"]


@pytest.mark.slow
def test_optional_plugins_that_are_absent_are_warnings(project):
    file = project / "b.yaml"
    file.write_text(
        "hw_compiler:\n  transforms: ['~no_such_thing', ScaleFirst]\n  steps: [transforms]\n"
        "  verify: {inputs: x.npy}\n"
    )
    result = run(project, file)
    assert [step.name for step in result.steps] == ["ScaleFirst"]
    assert len(result.warnings) == 1
    assert "no_such_thing" in result.warnings[0]
