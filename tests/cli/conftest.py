"""What the tests of the command line share: an empty folder to work in, and a project."""

import pytest

from tests.cli.command import TRANSFORM


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder, which no project is above."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one plugin, KeepAll; the current folder is in it."""
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    (folder / "plugins" / "keep_all.py").write_text(TRANSFORM)
    monkeypatch.chdir(folder)
    return folder
