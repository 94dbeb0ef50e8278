"""What is compiled for these tests is kept for all of them, as a user's cache keeps it."""

import pytest


@pytest.fixture(autouse=True)
def shared_cache(isolated_hub, monkeypatch, tmp_path_factory):
    """Use one cache in all tests of this folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "compiled"))
