"""The journal of an exploration: each point is run once, and what was finished stays, whoever is killed."""

import multiprocessing
import os
import signal
import sqlite3
import threading
import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_journal import (
    FILE,
    MOST_TRIES,
    PointJournal,
    exploring,
    note_command,
    noted_command,
)
from brainsmith.store.reads import Reads, file_digest

POINTS = [(f"k{at}", {"a": at}) for at in range(5)]


def states(journal):
    return [(run.key, run.state) for run in journal.runs("estimates")]


def begin(journal, fidelity="estimates"):
    """Take the next point that waits."""
    waiting = journal.waiting(fidelity)
    return journal.begin(waiting[0], fidelity) if waiting else None


def test_points_are_taken_in_their_order_each_once(tmp_path):
    journal = PointJournal(tmp_path)
    assert journal.add(POINTS, "estimates") == 5
    assert journal.add(POINTS[:2], "estimates") == 0
    assert journal.waiting("estimates") == [key for key, _ in POINTS]
    taken = [begin(journal) for _ in range(6)]
    assert [run and (run.key, run.choices, run.tries) for run in taken] == [
        *((key, choices, 1) for key, choices in POINTS),
        None,
    ]
    assert journal.begin("k0", "estimates") is None and journal.begin("other", "estimates") is None
    journal.finish(taken[1], {"lut": 7}, 0.5)
    journal.fail(taken[2], "no layer", 0.1)
    assert [run.state for run in journal.runs()] == ["running", "done", "failed", "running", "running"]
    done = journal.runs()[1]
    assert (done.figures, done.seconds, journal.runs()[2].reason) == ({"lut": 7}, 0.5, "no layer")


def test_a_fidelity_is_a_run_of_its_own(tmp_path):
    journal = PointJournal(tmp_path)
    journal.add(POINTS[:1], "estimates")
    journal.finish(begin(journal), {"lut": 7}, 1)
    assert journal.add(POINTS[:1], "simulated") == 1
    assert [(run.fidelity, run.state) for run in journal.runs()] == [
        ("estimates", "done"),
        ("simulated", "waiting"),
    ]


def test_one_that_is_tried_again_has_failed_the_second_time(tmp_path):
    journal = PointJournal(tmp_path)
    journal.add(POINTS[:1], "estimates")
    for _ in range(MOST_TRIES):
        journal.fail(begin(journal), "its worker died", 1, again=True)
    assert begin(journal) is None
    (run,) = journal.runs()
    assert (run.state, run.tries, run.reason) == ("failed", MOST_TRIES, "its worker died")


def test_a_late_failure_does_not_undo_a_result(tmp_path):
    journal = PointJournal(tmp_path)
    journal.add(POINTS[:1], "estimates")
    run = begin(journal)
    journal.finish(run, {"lut": 1}, 1)
    journal.fail(run, "killed", 9)
    assert states(journal) == [("k0", "done")]


def test_one_that_is_resumed_goes_on_where_it_was(tmp_path):
    journal = PointJournal(tmp_path)
    journal.add(POINTS, "estimates")
    journal.finish(begin(journal), {}, 1)
    begin(journal)
    note_command(tmp_path, {"budget": "3"})
    note_command(tmp_path, {"budget": "4"})
    journal.close()
    again = PointJournal(tmp_path)
    assert again.resume() == 1
    assert states(again) == [("k0", "done"), *((f"k{at}", "waiting") for at in range(1, 5))]
    assert noted_command(tmp_path) == {"budget": "4"} and noted_command(tmp_path / "other") == {}


def test_one_whose_steps_read_what_changed_meanwhile_waits_again(tmp_path):
    weights = tmp_path / "weights.csv"
    weights.write_text("1, 2")
    journal = PointJournal(tmp_path)
    journal.add(POINTS[:3], "estimates")
    outside = Reads({str(weights): file_digest(str(weights))}).plain()
    journal.finish(begin(journal), {"lut": 1}, 1, outside)
    journal.finish(begin(journal), {"lut": 2}, 1, Reads().plain())
    journal.finish(begin(journal), {"lut": 3}, 1)
    assert journal.resume() == 0
    weights.write_text("1, 3")
    assert journal.resume() == 1
    assert states(journal) == [("k0", "waiting"), ("k1", "done"), ("k2", "done")]
    assert begin(journal).tries == 1 and journal.runs()[0].figures is None


def test_two_explorations_in_one_folder_are_refused(tmp_path):
    with exploring(tmp_path), pytest.raises(ExplorationError) as caught, exploring(tmp_path):
        pass
    assert str(caught.value) == (
        f"another exploration runs in {tmp_path} (process {os.getpid()}): wait for it, or explore in another folder"
    )
    with exploring(tmp_path):
        pass


def test_another_version_and_what_is_no_journal_are_refused(tmp_path):
    PointJournal(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as base:
        base.execute("PRAGMA user_version=9")
    with pytest.raises(ExplorationError, match="a journal of version 9, and this BrainSmith's is 2"):
        PointJournal(tmp_path)
    for file in tmp_path.glob(f"{FILE}*"):
        file.unlink()
    (tmp_path / FILE).write_bytes(b"x" * 5000)
    with pytest.raises(
        ExplorationError, match="the journal cannot be opened: file is not a database"
    ) as caught:
        PointJournal(tmp_path)
    assert str(caught.value).endswith(
        "\n  make the folder writable, free space, or name another folder with --output"
    )
    (tmp_path / "a").write_text("")
    with pytest.raises(ExplorationError, match="the journal cannot be opened"):
        PointJournal(tmp_path / "a" / "b")


def finish_until_killed(folder):
    journal = PointJournal(folder)
    for at in range(10**6):
        journal.add([(f"k{at}", {})], "estimates")
        journal.finish(journal.begin(f"k{at}", "estimates"), {"at": at}, 0)
        (folder / "told").write_text(str(at))


def test_what_was_finished_stays_when_the_process_is_killed(tmp_path):
    worker = multiprocessing.get_context("spawn").Process(target=finish_until_killed, args=(tmp_path,))
    worker.start()
    while not (tmp_path / "told").exists() or not (tmp_path / "told").read_text().isdecimal():
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    told = (tmp_path / "told").read_text()
    done = [run.figures["at"] for run in PointJournal(tmp_path).runs() if run.state == "done"]
    assert done == list(range(len(done)))
    assert not told or len(done) > int(told)


class JournalIsATable(RuleBasedStateMachine):
    """Whatever is done in whatever order, the journal is what a table in memory is."""

    def __init__(self):
        super().__init__()
        import tempfile
        from pathlib import Path

        self.folder = Path(tempfile.mkdtemp(prefix="brainsmith-journal-"))
        self.journal, self.table, self.held = PointJournal(self.folder), {}, []

    def teardown(self):
        import shutil

        self.journal.close()
        shutil.rmtree(self.folder)

    @rule(at=st.integers(0, 4))
    def add(self, at):
        new = f"k{at}" not in self.table
        assert self.journal.add([(f"k{at}", {"a": at})], "estimates") == new
        self.table.setdefault(f"k{at}", "waiting")

    @rule()
    def begin(self):
        run = begin(self.journal)
        waiting = [key for key, state in self.table.items() if state == "waiting"]
        assert (run and run.key) == (waiting[0] if waiting else None)
        if run:
            self.table[run.key] = "running"
            self.held.append(run)

    @rule(well=st.booleans(), again=st.booleans())
    def end(self, well, again):
        if self.held:
            run = self.held.pop()
            if well:
                self.journal.finish(run, {}, 0)
            else:
                self.journal.fail(run, "so", 0, again=again)
            now = "done" if well else "waiting" if again and run.tries < MOST_TRIES else "failed"
            if self.table[run.key] != "done":
                self.table[run.key] = now

    @rule()
    def reopen(self):
        self.journal.close()
        self.journal = PointJournal(self.folder)

    @rule()
    def resume(self):
        running = [key for key, state in self.table.items() if state == "running"]
        assert self.journal.resume() == len(running)
        self.table |= dict.fromkeys(running, "waiting")
        self.held = []

    @invariant()
    def same(self):
        assert dict(states(self.journal)) == self.table


JournalIsATable.TestCase.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
test_the_journal_is_a_table = JournalIsATable.TestCase


def test_ctrl_c_while_another_process_writes_leaves_no_change_half_made(tmp_path):
    journal = PointJournal(tmp_path)
    journal.add(POINTS, "estimates")
    begin(journal)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
    with pytest.raises(KeyboardInterrupt):
        journal.release_all()
        time.sleep(1)  # what the signal interrupts where it comes late
    assert journal.release_all() == 1
    assert {state for _, state in states(journal)} == {"waiting"}
    other.close()
