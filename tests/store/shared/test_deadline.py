"""Deadlines: an answer has a fixed time, and only what really comes adds to it."""

import threading

import pytest

from brainsmith.errors import SharedCacheError
from brainsmith.store.shared import deadline
from brainsmith.store.shared.deadline import SLOWEST, Deadline, in_time


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    return now


def test_it_ends_after_its_limit(clock):
    due = Deadline(0.05)
    clock[0] += 0.04
    assert due.left() == pytest.approx(0.01)
    clock[0] += 0.01
    with pytest.raises(SharedCacheError, match=r"^it did not answer within 50 ms$"):
        due.left()


def test_what_is_moved_adds_the_time_that_it_takes_at_the_slowest_rate(clock):
    due = Deadline(0.05)
    due.moved(SLOWEST // 10)
    clock[0] += 0.14
    assert due.left() == pytest.approx(0.01)


def test_work_in_time_gives_what_it_returns_or_raises():
    assert in_time(Deadline(10), lambda moved: moved(5) or "done") == "done"
    with pytest.raises(ZeroDivisionError):
        in_time(Deadline(10), lambda moved: 1 / 0)


def test_work_that_takes_too_long_is_left_to_itself():
    let_go = threading.Event()
    with pytest.raises(SharedCacheError, match=r"^it did not answer within 20 ms$"):
        in_time(Deadline(0.02), lambda moved: let_go.wait(10))
    let_go.set()
