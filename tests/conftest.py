"""What all tests share: each has folders of its own for caches and settings, and begins with a fresh hub."""

import os

import pytest

from brainsmith.plugin.manager import reset_plugin_system


@pytest.fixture(autouse=True)
def isolated_hub(tmp_path_factory, monkeypatch):
    """Keep the user's settings and caches out of a test, and what a test registers out of the next one."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    for name in [name for name in os.environ if name.startswith("BRAINSMITH_")]:
        monkeypatch.delenv(name)
    reset_plugin_system()
    yield
    reset_plugin_system()
