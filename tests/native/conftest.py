"""A plugin of one operation, compiled once for each file of tests."""

import pytest

from tests.native.building import build_plugin


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A plugin with nothing wrong."""
    return build_plugin(tmp_path_factory.mktemp("good"), name="good.so")
