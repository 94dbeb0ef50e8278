"""Watching plugin folders: what changed is said, and what a broken file had is stale until it is mended."""

import os
import queue

import pytest

from brainsmith.errors import StalePluginError
from brainsmith.plugins import steps
from tests.plugin.installed import step_file

pytestmark = pytest.mark.usefixtures("no_frameworks")

SECONDS = 60
"""How long a test waits for what comes in a few milliseconds on a quiet machine."""
NAME = "step:project:first"


def save(project, path, text):
    """Save as editors do: write another file, and rename it."""
    os.replace(project.write(f"{path}.new", text), project / path)
    return project / path


def listed(manager):
    return {info.name: info.get("stale") for info in manager.registry.records("step", "project")}


def test_each_change_is_yielded(project, manager):
    save(project, "plugins/first.py", step_file("first", 1))
    with manager.watch() as watch:
        assert steps.first(None, None) == 1
        file = save(project, "plugins/first.py", step_file("first", 2))
        change = watch.next(SECONDS)
        assert (change.files, change.changed) == ((str(file),), (NAME,))
        assert str(change) == f"{file}: changed {NAME}"
        assert steps.first(None, None) == 2
        save(project, "plugins/second.py", step_file("second"))
        assert watch.next(SECONDS).added == ("step:project:second",)
        file.unlink()
        assert watch.next(SECONDS).removed == (NAME,)
        save(project, "plugins/notes.py", "X = 1\n")
        assert str(watch.next(SECONDS)) == f"{project / 'plugins/notes.py'}: no plugin"
        assert watch.next(0) is None


WRONG = "from brainsmith import step\n\n\n@step(nmae='x')\ndef first(model, cfg):\n    return 3\n"


@pytest.mark.parametrize("broken", ["def (", WRONG, b"\xff\xfe\x00"])
def test_a_file_that_breaks_leaves_its_plugins_stale_and_one_that_is_mended_has_them_as_before(
    project, manager, broken
):
    file = save(project, "plugins/first.py", step_file("first", 1))
    save(project, "plugins/second.py", step_file("second", 2))
    with manager.watch() as watch:
        old = steps.first
        save(project, "plugins/first.py", broken)
        change = watch.next(SECONDS)
        assert (change.stale, change.changed, change.removed) == ((NAME,), (), ())
        (problem,) = change.problems
        assert problem.file == str(file)
        assert str(change) == f"{file}: stale {NAME}\n{problem}"
        assert listed(manager) == {"first": str(problem), "second": None}
        with pytest.raises(StalePluginError) as caught:
            steps.first
        assert str(caught.value) == (
            "step 'project:first' is stale: its file is broken, and its last good version is not used\n"
            f"  {problem}"
        )
        assert caught.value.plugin.name == "first"
        assert old(None, None) == 1
        assert steps.second(None, None) == 2
        save(project, "plugins/first.py", step_file("first", 4))
        assert watch.next(SECONDS).changed == (NAME,)
        assert listed(manager) == {"first": None, "second": None}
        assert steps.first(None, None) == 4


def test_a_broken_file_that_is_removed_has_no_plugins_any_more(project, manager):
    file = save(project, "plugins/first.py", step_file("first", 1))
    with manager.watch() as watch:
        save(project, "plugins/first.py", "def (")
        assert watch.next(SECONDS).stale == (NAME,)
        file.unlink()
        assert watch.next(SECONDS).removed == (NAME,)
        assert listed(manager) == {}


def test_nothing_is_stale_without_a_watch(project, manager):
    save(project, "plugins/first.py", step_file("first", 1))
    with manager.watch() as watch:
        save(project, "plugins/first.py", "def (")
        assert watch.next(SECONDS).stale == (NAME,)
    assert listed(manager) == {}
    assert not hasattr(steps, "first")


def test_one_broken_decorator_leaves_the_other_plugins_of_the_file(project, manager):
    both = step_file("first", 1) + step_file("second", 2)
    save(project, "plugins/both.py", both)
    with manager.watch() as watch:
        save(project, "plugins/both.py", both.replace("@step\ndef first", "@step(nmae=1)\ndef first"))
        change = watch.next(SECONDS)
        assert (change.stale, change.changed) == ((NAME,), ("step:project:second",))


def test_a_function_is_called_with_each_change(project, manager):
    save(project, "plugins/first.py", step_file("first", 1))
    changes = queue.Queue()
    with manager.watch(changes.put):
        save(project, "plugins/first.py", step_file("first", 2))
        assert changes.get(timeout=SECONDS).changed == (NAME,)
        save(project, "plugins/first.py", step_file("first", 3))
        assert changes.get(timeout=SECONDS).changed == (NAME,)
    save(project, "plugins/first.py", step_file("first", 4))
    assert changes.empty()


def test_a_watch_that_is_stopped_ends_its_loop(project, manager):
    save(project, "plugins/first.py", step_file("first", 1))
    seen = []
    with manager.watch() as watch:
        save(project, "plugins/first.py", step_file("first", 2))
        for change in watch:
            seen.append(change.changed)
            watch.stop()
    assert seen == [(NAME,)]
