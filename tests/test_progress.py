"""Tasks, and who hears of them: own threads, other threads, forked children."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith import progress
from brainsmith.progress import Listening, Task, Work, carried, elapsed, has_listener, tick, wait_for


def test_a_task_says_what_is_done_of_how_much(heard):
    with Task("simulating", 3, "frames") as task:
        task.add()
        task.at(3)
    tick()
    assert heard == [
        "simulating: 0 of 3 frames",
        "simulating: 1 of 3 frames",
        "simulating: 3 of 3 frames",
    ]


def test_tasks_within_tasks_are_told_outermost_first(heard):
    with Task("sizing", 2, "FIFOs") as outer, Task("compiling"):
        outer.add()
    with Task("counting", unit="beats") as task:
        task.at(5)
    assert heard == [
        "sizing: 0 of 2 FIFOs",
        "sizing: 0 of 2 FIFOs; compiling",
        "sizing: 1 of 2 FIFOs; compiling",
        "counting",
        "counting: 5 beats",
    ]


def test_a_listener_is_called_once_in_an_interval(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    heard = []
    with Listening(heard.append), Task("working", unit="things") as task:
        for _ in range(50):
            now[0] += 0.125
            task.add()
    assert [[(work.done, round(work.seconds)) for work in works] for works in heard] == [
        [(8, 1)], [(16, 2)], [(24, 3)], [(32, 4)], [(40, 5)], [(48, 6)]
    ]  # fmt: skip


def test_without_a_listener_nothing_happens():
    assert not has_listener()
    with Task("working", 2) as task:
        task.add()
        tick()
    assert task.done == 1


def test_what_raises_ends_the_task(heard):
    with pytest.raises(ZeroDivisionError), Task("working"):
        raise ZeroDivisionError
    with Task("next"):
        pass
    assert heard == ["working", "next"]


def test_a_listener_that_raises_ends_the_work(monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.0)

    def broken(works):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError), Listening(broken), Task("working"):
        raise AssertionError("it went on")
    assert not has_listener()


def test_other_threads_are_heard_by_the_listeners_own_thread(monkeypatch, heard):
    monkeypatch.setattr(progress, "BEAT", 0.01)

    def work():
        with Task("beside", 1):
            while not heard:  # until the other thread has told it
                time.sleep(0.001)
        return 5

    with ThreadPoolExecutor(1) as pool:
        assert wait_for(pool.submit(carried(work))) == 5
    assert set(heard) == {"beside: 0 of 1"}


def test_a_thread_that_was_not_asked_is_not_heard(heard):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(has_listener).result() is False
        assert pool.submit(carried(has_listener)).result() is True
    assert heard == []


def test_waiting_gives_what_the_other_thread_raises(heard):
    def fail():
        raise TimeoutError("its own")

    with ThreadPoolExecutor(1) as pool, pytest.raises(TimeoutError, match="its own"):
        wait_for(pool.submit(carried(fail)))


def test_a_forked_child_is_not_heard(heard):
    with Task("working"):
        child = os.fork()
        if not child:
            tick()
            os._exit(len(heard))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1  # what was heard before
    assert heard == ["working"]


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (Work("compiling", 0, None, "", 3.2), "compiling, 3 s"),
        (Work("simulating", 1200000, None, "cycles", 61), "simulating: 1,200,000 cycles, 1 min 1 s"),
        (Work("sizing", 0, 12, "FIFOs", 7300), "sizing: 0 of 12 FIFOs, 2 h 1 min"),
        (Work("runs", 1, 4, "", 0.4), "runs: 1 of 4, 0 s"),
        (Work("runs", 1, 4, "", 3.0), "runs: 1 of 4, 3 s, about 9 s left"),
        (Work("compiling", 3, 12, "parts", 50), "compiling: 3 of 12 parts, 50 s, about 2 min 30 s left"),
        (Work("compiling", 12, 12, "parts", 50), "compiling: 12 of 12 parts, 50 s, about 0 s left"),
    ],
)
def test_work_is_one_line(work, text):
    assert str(work) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(59.9, "59 s"), (60, "1 min 0 s"), (3599.9, "59 min 59 s"), (3600, "1 h 0 min")],
)
def test_a_time_is_in_the_largest_units_that_it_fills(seconds, text):
    assert elapsed(seconds) == text


@given(st.integers(0, 10**7))
def test_elapsed_never_goes_back(seconds):
    def read(text):
        units = {"s": 1, "min": 60, "h": 3600}
        words = text.split()
        return sum(int(number) * units[unit] for number, unit in zip(words[::2], words[1::2], strict=True))

    shown = read(elapsed(seconds))
    assert 0 <= seconds - shown < (60 if seconds >= 3600 else 1)
