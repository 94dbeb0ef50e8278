"""What a record states of its surroundings is enforced when its name is resolved, before anything is imported."""

import pytest

from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.cli.main import main
from brainsmith.errors import BlueprintError, PluginUnavailableError
from brainsmith.plugin.packages import unmet_requirements
from brainsmith.plugin.requirements import wrong_host
from brainsmith.plugin.version import Version
from brainsmith.plugins import steps

STEP = "raise RuntimeError('imported')\nfrom brainsmith import step\n\n\n@step({})\ndef guarded(model, cfg): ...\n"
UNMET = {
    "min_brainsmith='0.9.0'": "needs brainsmith 0.9.0 or newer, and this is brainsmith 0.1.0: update brainsmith, or take an"
    " older version of the step",
    "max_brainsmith='0.0.9'": "works up to brainsmith 0.0.9, and this is brainsmith 0.1.0: take a newer version of"
    " the step",
    "requires=['nowhere>=2']": "requires nowhere>=2, which is not installed: pip install 'nowhere>=2'",
    "requires=['nowhere']": "requires nowhere, which is not installed: pip install 'nowhere'",
    "requires=['numpy>=99', 'nowhere']": "requires numpy>=99, and {numpy} is installed: pip install 'numpy>=99'; "
    "requires nowhere, which is not installed: pip install 'nowhere'",
}
WRONG = {
    "min_brainsmith='soon'": "min_brainsmith= of @step: a version must be three numbers such as '1.0.0', not 'soon'",
    "max_brainsmith='1'": "max_brainsmith= of @step: a version must be three numbers such as '1.0.0', not '1'",
    "requires=['numpy', 'no where']": "requires= of @step names 'no where', which is not a PEP 508 requirement",
    "requires=['numpy~=9']": "requires= of @step names 'numpy~=9', which is not a PEP 508 requirement; '~=' needs two "
    "numbers or more (PEP 440): '~=9.0' is '>=9.0,<10'",
}


@pytest.fixture
def guarded(project):
    def write(arguments):
        return project.write("plugins/guarded.py", STEP.format(arguments))

    return write


@pytest.mark.parametrize(("arguments", "reason"), UNMET.items(), ids=UNMET)
def test_a_plugin_that_does_not_work_here_is_refused_by_its_record(guarded, manager, arguments, reason):
    import numpy

    path = guarded(arguments)
    with pytest.raises(PluginUnavailableError) as caught:
        manager.registry.resolve("step", "guarded")
    reason = reason.format(path=path, numpy=numpy.__version__)
    message = f"step 'project:guarded' ({path}:5) cannot be used here: it {reason}"
    assert str(caught.value) == message
    for use in (
        lambda: steps.guarded,
        lambda: steps["project:guarded"],
        lambda: manager.get_instance("step", "guarded"),
    ):
        with pytest.raises(PluginUnavailableError) as caught:
            use()
        assert str(caught.value) == message
    assert "guarded" in steps and "step:guarded" in manager.registry
    assert "guarded" in manager.registry.records("step", "project")[0].name


@pytest.mark.parametrize(("arguments", "message"), WRONG.items(), ids=WRONG)
def test_what_is_no_version_or_requirement_is_found_before_anybody_uses_the_plugin(
    guarded, manager, no_frameworks, arguments, message
):
    path = guarded(arguments)
    manager.discover_plugins(modes=["full"])
    assert [str(problem) for problem in manager.registry.limits.problems] == [f"{path}:5: {message}"]


@pytest.mark.parametrize(
    "arguments", ["", "requires=['numpy>=1']", "min_brainsmith='0.1.0', max_brainsmith='1.0.0'"]
)
@pytest.mark.slow
def test_a_plugin_that_works_here_is_resolved(guarded, manager, arguments):
    guarded(arguments)
    assert manager.registry.resolve("step", "guarded").name == "guarded"


@pytest.mark.slow
def test_what_is_installed_meanwhile_counts_at_once(project, manager):
    project.write("plugins/guarded.py", STEP.format("requires=['acme-tools']"))
    with pytest.raises(PluginUnavailableError):
        manager.registry.resolve("step", "guarded")
    import sys
    from pathlib import Path

    from tests.plugin.installed import Site

    Site(Path(sys.path[0])).install("acme-tools", "1.0")
    assert manager.registry.resolve("step", "guarded").name == "guarded"


def test_a_blueprint_that_names_it_says_why_and_an_optional_one_does_without(guarded, manager, project):
    path = guarded("requires=['nowhere']")
    reason = f"step 'project:guarded' ({path}:5) cannot be used here: it requires nowhere, which is not installed: "
    blueprint = project.write("my.yaml", "hw_compiler:\n  steps: [cleanup, guarded]\n")
    with pytest.raises(BlueprintError) as caught:
        check_blueprint(str(blueprint), manager.registry)
    assert str(caught.value) == f"{blueprint}:2:20: {reason}pip install 'nowhere'"
    blueprint = project.write("my.yaml", "hw_compiler:\n  steps: [cleanup, ~guarded]\n")
    _, selection = check_blueprint(str(blueprint), manager.registry)
    assert selection.skipped == (
        f"{blueprint}:2:20: optional step 'guarded' is left out: {reason}pip install 'nowhere'",
    )


def test_check_with_load_says_what_cannot_be_imported_at_its_place(project, manager, capsys):
    path = project.write("plugins/guarded.py", STEP.format(""))
    project.write("my.yaml", "hw_compiler:\n  steps: [cleanup, guarded]\n")
    assert main(["blueprint", "check", "my.yaml"]) == 0
    capsys.readouterr()
    assert main(["blueprint", "check", "my.yaml", "--load"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(
        f"error: my.yaml:2:20: step 'project:guarded' ({path}:5) cannot be loaded: importing "
    )
    assert error.endswith(f"raised RuntimeError: imported ({path}:1)\n")
    project.write("my.yaml", "hw_compiler:\n  steps: [cleanup]\n")
    assert main(["blueprint", "check", "my.yaml", "--load"]) == 0


@pytest.mark.parametrize(
    ("oldest", "newest", "reason"),
    [
        (None, None, ""),
        ("0.1.0", "0.1.0", ""),
        ("0.0.1", "9.9.9", ""),
        ("0.1.1", None, "needs brainsmith 0.1.1 or newer"),
        (None, "0.0.9", "works up to brainsmith 0.0.9"),
    ],
)
def test_the_host_is_compared_in_one_place(oldest, newest, reason):
    versions = [Version.parse(text) if text else None for text in (oldest, newest)]
    assert wrong_host(*versions, "it").partition(",")[0] == reason


def test_upstreams_finn_serves_for_finn_plus(site, monkeypatch):
    from brainsmith.plugin import packages

    monkeypatch.setattr(packages, "installed", dict)
    assert unmet_requirements(["finn-plus"]) == [
        "requires finn-plus, which is not installed: brainsmith install-finn"
    ]
    monkeypatch.setattr(packages, "installed", lambda: {"finn": object()})
    assert unmet_requirements(["finn-plus"]) == []
