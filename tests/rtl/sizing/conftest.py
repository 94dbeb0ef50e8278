"""One small circuit for all tests of sizing."""

import pytest

from tests.rtl.sizing.circuits import convolutions


@pytest.fixture(scope="session")
def design(tmp_path_factory):
    return convolutions(tmp_path_factory.mktemp("convolutions"))
