"""Six cores of FINN's and two of ours, imported by the command line and simulated by the tests that it writes."""

import subprocess
import sys

import pytest

from brainsmith.cli.main import main
from tests.rtl.importing.cores import commands

NAMES = ("CropImage", "Queue", "Widths", "Padding", "Sum", "Turn", "Fork", "Join")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with all cores imported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".brainsmith").mkdir()
    found = commands(tmp_path)
    assert tuple(found) == NAMES
    for words in found.values():
        assert main(["kernel", "import", *words]) == 0
    return tmp_path


@pytest.mark.slow
def test_what_is_written_simulates_and_is_right(project):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1].startswith("8 passed"), done.stdout


@pytest.mark.slow
def test_every_import_is_a_kernel_and_a_backend(project, capsys):
    capsys.readouterr()
    assert main(["plugins", "list", "--framework", "project"]) == 0
    listed = [line.split("\t")[:3] for line in capsys.readouterr().out.splitlines()]
    assert sorted(listed) == sorted(
        [["kernel", "project", name] for name in NAMES] + [["backend", "project", f"{name}RTL"] for name in NAMES]
    )  # fmt: skip


@pytest.mark.slow
def test_a_second_import_of_the_same_changes_nothing(project):
    words = commands(project)["Queue"]
    before = {path: path.read_text() for path in (project / "plugins").iterdir() if path.is_file()}
    assert main(["kernel", "import", *words]) == 0
    assert {path: path.read_text() for path in (project / "plugins").iterdir() if path.is_file()} == before
