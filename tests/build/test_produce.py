"""How far a build goes, on a project whose own steps stand where the RTL steps do: each notes that it ran."""

import re
import textwrap

import numpy as np
import pytest

from brainsmith.blueprint.outputs import OUTPUTS, RTL_STEPS, TAKES
from brainsmith.build import build
from brainsmith.errors import BlueprintError, BuildError
from tests.build import graphs

STEPS = """
    from pathlib import Path

    import numpy as np

    from brainsmith.plugin.core import step
"""
STEP = """
    @step(name="{name}")
    def {name}(model, cfg, times=1):
        inputs = cfg.verify_input_npy
        seen = "none" if inputs is None else str(float(np.load(inputs).sum()))
        (Path(cfg.output_dir) / "{name}.txt").write_text(f"{{times}} {{seen}}")
        return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with steps of its own by the names of all RTL steps, a model, and golden inputs."""
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    source = STEPS + "".join(STEP.format(name=name) for name in RTL_STEPS)
    (folder / "plugins" / "circuits.py").write_text(textwrap.dedent(source))
    monkeypatch.chdir(folder)
    graphs.quant_mlp().save("m.onnx")
    np.save("x.npy", graphs.samples(graphs.quant_mlp()))
    return folder


def blueprint(folder, text):
    file = folder / "b.yaml"
    file.write_text("hw_compiler:\n" + "".join(f"  {line}\n" for line in text.splitlines()))
    return file


def built(file, produce=None, **more):
    """Build without a look at the results: the project's steps change nothing."""
    return build("m.onnx", file, "out", produce=produce, verify=False, report=False, **more)


def ran(result):
    return [step.name for step in result.steps]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.slow
def test_a_blueprint_says_how_far_and_an_argument_takes_its_place(project, output):
    file = blueprint(project, f"steps: [cleanup]\noutput: {output}")
    result = built(file)
    assert ran(result) == ["cleanup", *TAKES[output]]
    assert {step.framework for step in result.steps[1:]} <= {"project"}
    assert result.report["blueprint"]["output"] == output
    other = OUTPUTS[OUTPUTS.index(output) - 1]
    result = built(file, other)
    assert ran(result) == ["cleanup", *TAKES[other]]
    assert result.report["blueprint"]["output"] == other


@pytest.mark.slow
def test_a_named_step_keeps_its_arguments(project):
    file = blueprint(
        project, "steps: [cleanup, rtl_codegen, {step: rtl_size_fifos, args: {times: 3}}]\noutput: rtl"
    )
    result = built(file)
    assert ran(result) == ["cleanup", *TAKES["rtl"]]
    assert (project / "out" / "rtl_size_fifos.txt").read_text() == "3 none"
    assert (project / "out" / "rtl_package.txt").read_text() == "1 none"


@pytest.mark.slow
def test_steps_of_python_end_where_the_list_does_or_go_on_to_what_is_asked_for(project):
    def look(model, cfg):
        return model

    file = blueprint(project, "output: estimates")
    listed = ["cleanup", "rtl_codegen", look, {"step": "rtl_size_fifos", "args": {"times": 2}}]
    result = built(file, steps=listed)
    assert ran(result) == ["cleanup", "rtl_codegen", "look", "rtl_stitch", "rtl_size_fifos"]
    assert result.report["blueprint"]["output"] == "rtl"
    result = built(None, "simulated", steps=listed)
    assert ran(result) == [
        "cleanup", "rtl_codegen", "look", "rtl_stitch", "rtl_size_fifos", "rtl_simulate", "rtl_package",
    ]  # fmt: skip
    assert ran(built(None, "estimates", steps=listed)) == ["cleanup", "look"]


@pytest.mark.slow
def test_a_blueprint_that_was_read(project):
    from brainsmith.blueprint import load_blueprint

    read = load_blueprint(blueprint(project, "steps: [cleanup]\noutput: rtl"))
    assert ran(built(read)) == ["cleanup", *TAKES["rtl"]]
    assert ran(built(read, "simulated")) == ["cleanup", *TAKES["simulated"]]


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ("simulate", "'simulate'. Did you mean 'simulated'?"),
        ("bitstream", "'bitstream'."),
        ("", "''."),
        (3, "3."),
    ],
)
def test_what_is_no_output(project, wrong, shown):
    with pytest.raises(BuildError) as caught:
        build("m.onnx", None, "out", produce=wrong)
    assert str(caught.value) == f"produce must be one of estimates, rtl, simulated, synthesised, not {shown}"
    assert not (project / "out").exists()


def test_an_order_that_cannot_work_is_said_before_anything_runs(project):
    with pytest.raises(BlueprintError, match=r"b\.yaml:2:23: step 'project:rtl_codegen' comes after "):
        build("m.onnx", blueprint(project, "steps: [rtl_stitch, rtl_codegen]"), "out", produce="estimates")
    with pytest.raises(BuildError) as caught:
        build("m.onnx", None, "out", steps=["rtl_stitch", "cleanup", "rtl_stitch"])
    assert str(caught.value).splitlines() == [
        "steps[1]: step 'cleanup' comes after 'project:rtl_stitch' and changes the model, so the generated files "
        "would not match it. Put it before 'project:rtl_stitch'",
        "steps[2]: step 'project:rtl_stitch' is listed twice: first at steps[0]",
    ]
    assert not (project / "out").exists()


def test_an_output_that_leaves_nothing(project):
    with pytest.raises(BuildError, match=r"^the pipeline has no steps: "):
        build("m.onnx", None, "out", steps=["rtl_codegen"], produce="estimates")


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.slow
def test_golden_inputs_reach_the_steps_whatever_form_they_have(project, verify):
    data = np.load("x.npy")
    expected = f"1 {float(data.sum())}"
    for inputs in ("x.npy", project / "x.npy", data):
        words = {"verify": verify, "report": False, "use_cache": False}
        build("m.onnx", None, "out", steps=["rtl_codegen"], verify_inputs=inputs, **words)
        assert (project / "out" / "rtl_codegen.txt").read_text() == expected
    np.testing.assert_array_equal(np.load("out/checkpoints/00_inputs.npy"), data)
    file = blueprint(project, "steps: [rtl_codegen]\nverify: {inputs: x.npy}")
    build("m.onnx", file, "out", **words)
    assert (project / "out" / "rtl_codegen.txt").read_text() == expected


def test_golden_inputs_that_are_none(project):
    for wrong, message in (
        (3, "verify inputs must be real numbers, not int: a .npy file or an array"),
        (
            np.asarray(["a"]),
            "the given array: input 'x' must be of float32, not <U1; convert it with .astype('float32')",
        ),
    ):
        with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
            build("m.onnx", None, "out", steps=["rtl_codegen"], verify_inputs=wrong, verify=False)
    assert not (project / "out").exists()


@pytest.mark.slow
def test_the_same_golden_file_elsewhere_is_the_same_and_other_content_is_not(project):
    data = np.load("x.npy")
    (project / "other").mkdir()
    np.save("other/copy.npy", data)

    def simulate(inputs):
        return built(None, steps=["rtl_simulate"], verify_inputs=inputs).steps

    assert not simulate("x.npy")[-1].reused
    assert simulate("x.npy")[-1].reused
    assert simulate("other/copy.npy")[-1].reused
    assert simulate(data)[-1].reused
    np.save("x.npy", data + 1)
    first, *later = simulate("x.npy")
    assert first.cache.startswith("cfg.verify_input_npy was a file of content ")
    assert {step.cache for step in later} == {"what earlier steps left in the output folder changed"}
    assert (project / "out" / "rtl_simulate.txt").read_text() == f"1 {float(np.load('x.npy').sum())}"
    # The step may have opened the former file by its name, so that one counts.
    assert simulate("other/copy.npy")[-1].cache == f"{project}/x.npy changed"
    assert simulate("other/copy.npy")[-1].reused
    assert (project / "out" / "rtl_simulate.txt").read_text() == f"1 {float(data.sum())}"


@pytest.mark.slow
def test_steps_that_read_no_golden_inputs_do_not_depend_on_them(project):
    data = np.load("x.npy")
    built(None, steps=["cleanup"], verify_inputs=data)
    assert built(None, steps=["cleanup"], verify_inputs=data + 1).steps[0].reused


@pytest.mark.slow
def test_finns_config_has_them_under_the_same_name(project):
    steps = ["finn:step_tidy_up", "rtl_simulate"]
    built(None, steps=steps, verify_inputs="x.npy")
    data = np.load("x.npy")
    assert (project / "out" / "rtl_simulate.txt").read_text() == f"1 {float(data.sum())}"
    again = built(None, steps=steps, verify_inputs=data)
    assert again.steps[-1].reused
    built(None, steps=steps)
    assert (project / "out" / "rtl_simulate.txt").read_text() == "1 none"
