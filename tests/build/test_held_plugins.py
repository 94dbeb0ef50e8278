"""A plugin is edited while a build runs: the build ends with what it began with, and the next one has the new version."""

import os

import pytest

from brainsmith.build import build
from brainsmith.errors import PluginLoadError
from tests.build import graphs

NUMBERED = """from qonnx.transformation.base import Transformation
from brainsmith import step, transform
from brainsmith.plugins import transforms

SEEN = []


@transform(stage="tidy", description="Add to the weights")
class Numbered(Transformation):
    number = 1

    def apply(self, model):
        return model, False


@step
def first(model, cfg):
    SEEN.append(("first", 1, transforms.Numbered.number))
    return model


@step
def second(model, cfg):
    SEEN.append(("second", 1, transforms.Numbered.number))
    return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    monkeypatch.chdir(tmp_path)
    save(1)
    return tmp_path


def save(number):
    with open("plugins/numbered.new", "w") as file:
        file.write(NUMBERED.replace("1", str(number)))
    os.replace("plugins/numbered.new", "plugins/numbered.py")


def built(progress=None):
    """Build, and return what the steps that ran saw."""
    from brainsmith.plugins import steps

    result = build(
        graphs.quant_mlp(),
        output="out",
        steps=["first", "second"],
        verify=False,
        report=False,
        progress=progress,
    )
    return result, steps


def seen(function):
    found = [*function.__globals__["SEEN"]]
    function.__globals__["SEEN"].clear()
    return found


@pytest.mark.slow
def test_an_edit_between_two_steps_is_for_the_next_build(project):
    from brainsmith.plugins import steps

    old = steps.first

    def edit(event):
        if event.kind == "done" and event.index == 1:
            save(2)

    result, _ = built(edit)
    assert seen(old) == [("first", 1, 1), ("second", 1, 1)]
    assert [step.reused for step in result.steps] == [False, False]
    assert result.steps[1].cache.startswith("it is never reused")
    result, _ = built()
    assert seen(steps.first) == [("first", 2, 2), ("second", 2, 2)]
    assert seen(old) == []
    result, _ = built()
    assert [step.reused for step in result.steps] == [True, True]


@pytest.mark.slow
def test_an_edit_before_the_first_step_of_a_live_process_is_for_the_next_build_too(project):
    from brainsmith.plugins import steps

    old = steps.first

    def edit(event):
        if event.kind == "start" and event.index == 1:
            save(3)

    built(edit)
    assert seen(old) == [("first", 1, 1), ("second", 1, 1)]


def test_what_was_not_loaded_when_its_file_changed_is_refused(project):
    """The first step is reused, so nothing of the folder is imported before the second has to run."""
    (project / "plugins" / "late.py").write_text(
        "from brainsmith import step\n\n\n@step\ndef late(model, cfg):\n    return model\n"
    )

    def edit(event):
        if event.kind == "start":
            save(2)

    with pytest.raises(PluginLoadError) as caught:
        build(graphs.quant_mlp(), output="out", steps=["late"], verify=False, report=False, progress=edit)
    assert str(caught.value) == (
        f"step 'project:late' ({project / 'plugins/late.py'}:4) cannot be loaded any more: plugin files changed after this "
        "build began, and one build does not mix two versions of them; build again"
    )
    build(graphs.quant_mlp(), output="out", steps=["late"], verify=False, report=False)


@pytest.mark.slow
def test_a_build_says_when_its_first_step_ran_and_what_it_read(project):
    result, _ = built()
    assert result.first_run is not None
    again, _ = built()
    assert again.first_run is None
    assert [path for path in result.read if path.startswith(str(project))] == []
