"""`brainsmith lock`: what it prints of a blueprint's lock, and its exit codes."""

import json
from pathlib import Path

import pytest

from brainsmith.plugin.manager import reset_plugin_system
from tests.cli.command import in_this_process
from tests.plugin.installed import Site, step_file


@pytest.fixture
def project(elsewhere):
    (elsewhere / ".brainsmith").mkdir()
    site = Site(elsewhere)
    site.write("plugins/tidy.py", step_file("tidy"))
    site.write("b.yaml", "hw_compiler: {steps: [cleanup, tidy]}\n")
    return site


def run(capsys, *words):
    reset_plugin_system()
    return in_this_process(capsys, "lock", "b.yaml", *words)


def test_a_lock_is_written_checked_and_changed(project, capsys):
    assert run(capsys, "--check").stderr == "error: there is no b.lock: brainsmith lock b.yaml writes it\n"
    done = run(capsys)
    assert (done.returncode, done.stdout, done.stderr) == (0, "b.lock is written\n", "")
    assert (run(capsys, "--check").returncode, run(capsys, "--check").stdout) == (0, "b.lock holds here\n")
    written = Path("b.lock").read_text()
    project.write("plugins/tidy.py", step_file("tidy", 1))
    project.write("plugins/last.py", step_file("last"))
    done = run(capsys, "--check")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[2:] == [
        "plugin file plugins/last.py is new",
        "plugin file plugins/tidy.py has other content",
        "b.lock does not hold here: 4 changes",
    ]
    assert Path("b.lock").read_text() == written
    done = run(capsys, "--upgrade", "tidy")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("plugin step:project:tidy was (")
    assert lines[1:4] == [
        "plugin file plugins/tidy.py has other content",
        "b.lock is written: 2 changes",
        "builds with --locked still refuse:",
    ]
    assert lines[4].startswith("  plugin step:project:last is new: (")
    assert lines[5:] == ["  plugin file plugins/last.py is new"]
    assert run(capsys).stdout.splitlines()[-1] == "b.lock is written: 2 changes"
    assert run(capsys, "--check").returncode == 0


def test_as_one_document(project, capsys):
    run(capsys)
    project.write("plugins/tidy.py", step_file("tidy", 1))
    document = json.loads(run(capsys, "--check", "--json").stdout)
    assert (document["lock"], document["state"], document["left"], document["error"]) == (
        "b.lock",
        "differs",
        [],
        None,
    )
    assert [(one["kind"], one["name"]) for one in document["changes"]] == [
        ("plugin", "step:project:tidy"),
        ("plugin file", "plugins/tidy.py"),
    ]


def test_misuse(project, capsys):
    assert run(capsys, "--check", "--upgrade", "tidy").returncode == 2
    assert (
        run(capsys, "--upgrade", "tidy").stderr
        == "error: there is no b.lock: brainsmith lock b.yaml writes it\n"
    )
    Path("b.lock").write_text("{")
    assert run(capsys, "--check").returncode == 1
    assert run(capsys).returncode == 0  # what is damaged is written anew
    assert run(capsys, "--upgrade", "nothing").stderr.startswith(
        "error: neither the lock nor what is here has 'nothing'"
    )
    Path("b.yaml").write_text("hw_compiler: {steps: [clean]}\n")
    assert run(capsys).stderr.startswith("error: b.yaml:1:23: no step named 'clean'")
