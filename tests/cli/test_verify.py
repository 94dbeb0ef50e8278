"""`brainsmith verify`: what is printed of a folder beside the statement of its build."""

import json

import pytest

from tests.build.test_provenance import FILES, made
from tests.cli.command import in_this_process


@pytest.fixture
def built(elsewhere):
    return made(elsewhere / "out", FILES)


def test_a_folder_as_it_was_made(built, capsys):
    done = in_this_process(capsys, "verify", "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "4 files are as the build made them\n", "")
    assert json.loads(in_this_process(capsys, "verify", "out", "--json").stdout) == {
        "same": 4, "changed": [], "missing": [], "new": [], "error": None,
    }  # fmt: skip


def test_what_is_not_as_it_was_made_is_named_and_ends_with_1(built, capsys):
    (built / "model.onnx").write_text("else")
    (built / "report/a.json").unlink()
    (built / "accelerator/README.md").unlink()
    (built / "notes.txt").write_text("")
    done = in_this_process(capsys, "verify", "out")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == (
        "changed  model.onnx\n"
        "missing  accelerator/README.md\n"
        "missing  report/a.json\n"
        "new      notes.txt\n"
        "1 file is as the build made it\n"
    )


def test_long_lists_are_cut(built, capsys):
    for at in range(30):
        (built / f"new{at:02}").write_text("")
    done = in_this_process(capsys, "verify", "out")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-2:] == [
        "new      ... and 10 more, which --json prints",
        "4 files are as the build made them",
    ]


def test_a_statement_elsewhere_is_named(built, capsys):
    (built / "provenance.json").rename(built.parent / "p.json")
    done = in_this_process(capsys, "verify", "out")
    assert (done.returncode, done.stderr.splitlines()[1]) == (
        1,
        "  builds write it into their output folder; --provenance FILE names one elsewhere",
    )
    assert in_this_process(capsys, "verify", "out", "--provenance", "p.json").returncode == 0
