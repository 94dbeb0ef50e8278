"""`brainsmith init`: what it writes, what it says, and what it refuses."""

import os

import pytest

from tests.cli.command import brainsmith, in_this_process

NEXT = """\

next:
{enter}  brainsmith new transform MyPass                                                         a plugin, and its test
  python -m pytest                                                                        runs the tests
  brainsmith blueprint check blueprints/my_model.yaml                                     what the blueprint selects
  brainsmith build MODEL.onnx --blueprint blueprints/my_model.yaml --output out/my_model  a circuit
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_it_says_what_it_wrote_and_what_comes_next(capsys):
    done = in_this_process(capsys, "init", "work")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "wrote work/.brainsmith/config.yaml           the settings of this project\n"
        "wrote work/plugins/README.md                 the folder of its plugins\n"
        "wrote work/blueprints/my_model.yaml          a blueprint to begin with\n"
        "wrote work/blueprints/blueprint.schema.json  with which editors complete and check blueprints\n"
        + NEXT.format(enter="  cd work\n")
    )


def test_without_a_folder_it_is_the_current_one(here, capsys):
    done = in_this_process(capsys, "init")
    assert done.returncode == 0
    assert done.stdout.endswith(NEXT.format(enter=""))
    assert (here / ".brainsmith" / "config.yaml").is_file()


def test_the_second_time_it_refuses(here, capsys):
    in_this_process(capsys, "init")
    done = in_this_process(capsys, "init")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"error: {here} is a project already: it has .brainsmith in it\n  brainsmith new KIND NAME adds a plugin to it\n"
    )


def test_a_file_is_no_folder(here, capsys):
    (here / "file").write_text("")
    done = in_this_process(capsys, "init", "file")
    assert (done.returncode, done.stderr) == (1, "error: file is a file, and a project is a folder\n")
    done = in_this_process(capsys, "init", "file/below")
    assert (done.returncode, done.stderr) == (1, "error: file/below: cannot be written: Not a directory\n")


def test_a_file_in_the_way_is_named_and_nothing_is_written(here, capsys):
    (here / "plugins").mkdir()
    (here / "plugins" / "README.md").write_text("mine")
    done = in_this_process(capsys, "init")
    assert (done.returncode, done.stderr) == (
        1,
        "error: plugins/README.md exists, and is not overwritten; nothing was written\n",
    )
    assert sorted(os.listdir(here)) == ["plugins"]


@pytest.mark.slow
def test_the_blueprint_of_a_project_passes_its_check(here):
    assert brainsmith("init", "work", cwd=here).returncode == 0
    done = brainsmith("blueprint", "check", "blueprints/my_model.yaml", cwd=here / "work")
    assert (done.returncode, done.stderr) == (0, "")
    assert "simulated" in done.stdout
