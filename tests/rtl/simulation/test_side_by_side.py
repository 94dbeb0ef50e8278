"""Runs side by side: what they give is in their order, and one that fails ends the others."""

import threading
from functools import partial

import pytest

from brainsmith.errors import SimulationError
from brainsmith.plugin.processes import Workers
from brainsmith.progress import Listening
from brainsmith.rtl.simulation import side_by_side as module
from brainsmith.rtl.simulation.side_by_side import side_by_side


@pytest.fixture(autouse=True)
def two_processors(monkeypatch):
    monkeypatch.setattr(module, "processors", lambda: 2)


def test_runs_are_returned_in_their_order():
    second = threading.Event()

    def first():
        assert second.wait(10)  # they do run side by side
        return 1

    def last():
        second.set()
        return 2

    heard = []
    with Listening(heard.append) as listening:
        listening._last_report = 0.0
        assert side_by_side("all of it", [first, last]) == [1, 2]
    assert str(heard[0][0]) == "all of it: 0 of 2 runs, 0 s"


def test_a_run_that_fails_ends_the_others():
    def endless():
        while True:
            Workers.go_on()

    def failing(text):
        raise SimulationError(text)

    with pytest.raises(SimulationError, match=r"^first$"):
        side_by_side("all of it", [partial(failing, "first"), endless, partial(failing, "third")])
