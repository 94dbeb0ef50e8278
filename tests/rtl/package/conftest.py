"""The small accelerator, made once; its package, in a folder of each test's own."""

import pytest

from tests.rtl.package.packed import make_small


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return make_small(tmp_path_factory.mktemp("small"))


@pytest.fixture
def folder(small, tmp_path):
    return small.write(tmp_path / "accelerator")
