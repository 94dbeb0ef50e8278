"""What the hub's tests share: an empty folder to work in, and a `sys.path` and `sys.modules` that are put back."""

import importlib
import os
import sys
from pathlib import Path

import pytest

from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX
from tests.plugin.installed import Site


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder, which no project is above."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty folder that stands first on `sys.path`; what is imported from it is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield Site(folder)
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)) or name.startswith(FOLDER_PREFIX):
            del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def unimported_finn(site):
    """FINN as if nothing of it had been imported: where it is found is then decided by `sys.path` alone."""

    def is_finn(name):
        return name == "finn" or name.startswith("finn.")

    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if is_finn(name)}
    yield site
    for name in list(filter(is_finn, sys.modules)):
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.fixture
def project(tmp_path, monkeypatch, site):
    """A project with an empty `plugins` folder; the current folder is in it."""
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    monkeypatch.chdir(folder)
    return Site(folder)


@pytest.fixture
def manager():
    """The manager of this process, freshly reset."""
    return get_plugin_manager()


@pytest.fixture
def no_frameworks():
    """Leave QONNX and FINN out by the user's settings: to read them takes most of a discovery's time."""
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "brainsmith"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("plugin_system: {frameworks: []}\n")
