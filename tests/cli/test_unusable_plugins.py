"""Every command that shows or uses plugins says which plugin files cannot be used."""

import pytest

from brainsmith.build.task import BuildArguments, task_of
from brainsmith.cli.main import main
from brainsmith.errors import BlueprintError

HALVE = "from brainsmith import step\n\n\n@step\ndef halve(model{}):\n    return model\n"
UNUSABLE = {
    "what the decorator refuses": (
        HALVE.format(""),
        "4: @step needs a function (model, cfg) -> model; halve takes 1 argument",
    ),
    "what only compiling finds": (
        HALVE.format(", cfg") + "return halve\n",
        "7:1: the file is not Python, so its plugins are not found: 'return' outside function",
    ),
}


@pytest.fixture(params=UNUSABLE.values(), ids=UNUSABLE)
def halve(project, request):
    """A project with one plugin that works, and one step that cannot be used; return what is said of it."""
    text, problem = request.param
    (project / "plugins" / "halve.py").write_text(text)
    return f"{project}/plugins/halve.py:{problem}\n"


@pytest.fixture
def blueprint(project):
    def write(steps):
        (project / "my.yaml").write_text(f"hw_compiler:\n  steps: [{steps}]\n")
        return "my.yaml"

    return write


@pytest.mark.parametrize("words", ["plugins list", "plugins list --json", "plugins show KeepAll"])
def test_what_shows_plugins_warns(halve, capsys, words):
    assert main(words.split()) == 0
    shown = capsys.readouterr()
    assert shown.err == f"warning: {halve}"
    assert "KeepAll" in shown.out


def test_a_list_of_nothing_warns_too(project, halve, capsys):
    (project / "plugins" / "keep_all.py").unlink()
    assert main(["plugins", "list", "--framework", "project"]) == 2
    assert capsys.readouterr().err == (
        f"warning: {halve}error: --framework: no plugin has the framework 'project'\n"
        f"  {project}/plugins\n  the frameworks are brainsmith, finn, qonnx\n"
    )


def test_a_name_that_is_not_found_names_the_file(halve, capsys):
    assert main(["plugins", "show", "halve"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [
        "error: no plugin named 'halve'",
        "  a file that contains this name has a problem:",
        f"    {halve.rstrip()}",
    ]


def test_a_blueprint_that_does_without_it_is_checked_with_a_warning(halve, blueprint, capsys):
    assert main(["blueprint", "check", blueprint("cleanup")]) == 0
    shown = capsys.readouterr()
    assert shown.err == f"warning: {halve}"
    assert shown.out.startswith("my.yaml: no errors\n")


@pytest.mark.slow
def test_a_blueprint_that_names_it_names_the_file(halve, blueprint, capsys):
    assert main(["blueprint", "check", blueprint("cleanup, halve")]) == 1
    assert capsys.readouterr().err.splitlines()[:3] == [
        "error: my.yaml:2:20: no step named 'halve'.",
        "  a file that contains this name has a problem:",
        f"    {halve.rstrip()}",
    ]


def test_a_build_warns_and_one_that_names_it_names_the_file(halve, blueprint):
    assert task_of(BuildArguments(blueprint("cleanup"))).warnings == (halve.rstrip(),)
    with pytest.raises(BlueprintError) as caught:
        task_of(BuildArguments(blueprint("halve")))
    assert halve.rstrip() in str(caught.value)


@pytest.mark.slow
def test_health_is_degraded_by_it(halve, capsys):
    assert main(["health"]) == 1
    shown = capsys.readouterr()
    assert shown.out.splitlines()[:2] == ["BrainSmith 0.1.0 is degraded", f"  {halve.rstrip()}"]
    assert shown.err == ""
