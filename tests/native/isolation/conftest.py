"""A plugin that misbehaves on demand, compiled once."""

from pathlib import Path

import pytest

from brainsmith.native.isolation.isolated_library import open_isolated
from tests.native.building import compile_c


@pytest.fixture(scope="session")
def bad_library(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad") / "libbad.so"
    compile_c(Path(__file__).parent / "bad_plugin.c", path)
    return path


@pytest.fixture
def bad(bad_library):
    """The library, opened for one test."""
    library = open_isolated(bad_library, time_limit=5)
    yield library
    library.close()


@pytest.fixture
def op(bad):
    """Find an operation by its name."""
    return {one.name: one for one in bad.ops}.__getitem__
