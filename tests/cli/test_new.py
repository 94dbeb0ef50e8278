"""`brainsmith new KIND NAME`: what it says, where it writes, and how it refuses."""

import os

import pytest

from brainsmith.plugin.manager import reset_plugin_system
from tests.cli.command import in_this_process


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    (folder / ".brainsmith").mkdir(parents=True)
    monkeypatch.chdir(folder)
    reset_plugin_system()
    return folder


def test_it_says_what_it_wrote_and_how_it_is_tried(capsys):
    done = in_this_process(capsys, "new", "transform", "RemoveIdentity")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "wrote plugins/remove_identity.py\n"
        "wrote tests/test_remove_identity.py\n"
        "\n"
        "test it: python -m pytest tests/test_remove_identity.py\n"
        "see it: brainsmith plugins show RemoveIdentity\n"
    )


def test_from_a_folder_below_the_paths_are_right_too(here, monkeypatch, capsys):
    (here / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(here / "deep" / "down")
    done = in_this_process(capsys, "new", "step", "tidy_graph")
    assert done.stdout.splitlines()[:2] == [
        "wrote ../../plugins/tidy_graph.py",
        "wrote ../../tests/test_tidy_graph.py",
    ]
    assert (here / "plugins" / "tidy_graph.py").is_file()


def test_a_kernel_that_was_edited_is_a_warning(here, capsys):
    in_this_process(capsys, "new", "kernel", "Rectify")
    file = here / "plugins" / "rectify.py"
    file.write_text(file.read_text() + "\n# edited\n")
    done = in_this_process(capsys, "new", "backend", "RectifyRTL")
    assert done.returncode == 0
    assert done.stderr.startswith(f"warning: {file}:")
    assert done.stderr.endswith(
        ": this kernel is not as `brainsmith new kernel Rectify` writes it. The test fails until the backend and"
        " rectify_core.sv compute what the kernel does\n"
    )


def test_without_a_project_it_says_how_one_is_made(here, monkeypatch, capsys):
    (here / ".brainsmith").rmdir()
    done = in_this_process(capsys, "new", "op", "soft_sign")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: no project here: neither this folder nor one above it has .brainsmith in it\n"
        "  brainsmith init makes this folder a project\n"
    )
    assert os.listdir(here) == []


def test_a_wrong_name_or_kind_is_a_usage_error(here, capsys):
    done = in_this_process(capsys, "new", "transform", "remove_identity")
    assert (done.returncode, done.stderr) == (
        2,
        "error: the name of a transform is in CamelCase, such as RemoveIdentity, not 'remove_identity'. Did you mean"
        " 'RemoveIdentity'?\n",
    )
    done = in_this_process(capsys, "new", "transfrom", "RemoveIdentity")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: KIND must be transform, kernel, backend, step, op, target or package, not "
    )
    assert sorted(os.listdir(here)) == [".brainsmith"]


def test_the_second_time_it_refuses_and_changes_nothing(here, capsys):
    in_this_process(capsys, "new", "op", "soft_sign")
    file = here / "plugins" / "soft_sign.py"
    file.write_text(file.read_text() + "# mine\n")
    done = in_this_process(capsys, "new", "op", "soft_sign")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "error: there is an op 'soft_sign' already; choose another name:\n  project:soft_sign at "
    )
    assert file.read_text().endswith("# mine\n")


def test_a_package_needs_no_project(here, capsys):
    (here / ".brainsmith").rmdir()
    done = in_this_process(capsys, "new", "package", "acme-plugins")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2:] == [
        "install it: python -m pip install --editable './acme-plugins[test]'",
        "test it: python -m pytest acme-plugins",
    ]
    assert (here / "acme-plugins" / "pyproject.toml").is_file()
