"""Simulations are built once for all tests."""

import os

import pytest


@pytest.fixture(scope="session")
def simulations(tmp_path_factory):
    """The folder in which all tests, of all workers, keep what they build."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "simulations"
