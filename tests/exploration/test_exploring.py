"""Exploring with real workers and real builds: what is shared, what fails, who dies, and what is left."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.errors import ExplorationError
from brainsmith.exploration.exploring import Exploration
from brainsmith.exploration.point_journal import PointJournal
from brainsmith.exploration.point_process import WorkerLostError, WorkerProcess
from tests.cli.command import ROOT

MODEL = ROOT / "examples" / "digits" / "mlp.onnx"
SPACE = """\
explore: {objectives: {fps: max, lut: min}}
hw_compiler:
  target: {part: pynq-z2, clock: 5 ns, fps: {choice: [1000, 100000], name: rate}}
  steps: [cleanup, integer, hardware_inference, specialize, fold, estimate]
"""


@pytest.fixture
def space(tmp_path):
    (tmp_path / "space.yaml").write_text(SPACE)
    return load_space(tmp_path / "space.yaml")


@pytest.mark.slow
def test_all_points_are_built_and_a_second_time_none(space, tmp_path):
    heard = []
    exploration = Exploration(space, tmp_path / "out", str(MODEL), jobs=2, listener=heard.append)
    runs = exploration.run(space.points())
    assert [(run.state, run.tries, dict(run.choices)) for run in runs] == [
        ("done", 1, {"rate": 0}),
        ("done", 1, {"rate": 1}),
    ]
    slow, fast = (run.figures for run in runs)
    assert fast["fps"] >= 100000 and slow["fps"] >= 1000 and slow["lut"] < fast["lut"]
    assert len(heard) == 2
    again = Exploration(space, tmp_path / "out", str(MODEL), listener=heard.append)
    assert [run.figures for run in again.run(space.points())] == [slow, fast]
    assert len(heard) == 2
    with pytest.raises(ExplorationError, match=r"model gone\.onnx does not exist"):
        Exploration(space, tmp_path / "out", "gone.onnx").run(space.points())


def test_an_exploration_that_cannot_begin_leaves_nothing(space, tmp_path):
    with pytest.raises(ExplorationError, match=r"model gone\.onnx does not exist"):
        Exploration(space, tmp_path / "out" / "deep", "gone.onnx").run(space.points())
    (tmp_path / "models").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, what in {"models": "is a folder, not", "pipe": "is a pipe or a device, not"}.items():
        with pytest.raises(ExplorationError, match=rf"/{name} {what} an ONNX file\."):
            Exploration(space, tmp_path / "out" / "deep", str(tmp_path / name)).run(space.points())
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_point_that_cannot_be_built_has_its_reason_and_the_others_are_built(tmp_path):
    text = SPACE.replace("integer,", "{choice: [integer, qonnx_to_finn], name: way},", 1)
    (tmp_path / "space.yaml").write_text(text.replace("100000]", "2000000000]"))
    space = load_space(tmp_path / "space.yaml")
    runs = Exploration(space, tmp_path / "out", str(MODEL)).run(space.points())
    assert {run.state for run in runs} <= {"done", "failed"} and len(runs) == 4
    assert all(run.reason for run in runs if run.state == "failed")


def test_a_worker_that_dies_or_hangs_or_takes_too_long_is_lost_and_the_next_one_works():
    worker = WorkerProcess(silence=60)
    try:
        task = {"model": "gone.onnx", "blueprint": "gone.yaml", "output": "o", "fidelity": "estimates"}
        answer = worker.run(task, 60)
        assert answer["kind"] == "BlueprintError" and "gone.yaml" in answer["reason"]
        killed = worker.pid
        os.kill(killed, signal.SIGSTOP)
        with pytest.raises(WorkerLostError, match=r"it takes longer than 0.5 s"):
            worker.run(task, 0.5)
        assert worker.run(task, 60)["kind"] == "BlueprintError"
        assert worker.pid != killed
        threading.Timer(0.3, os.kill, (worker.pid, signal.SIGKILL)).start()
        os.kill(worker.pid, signal.SIGSTOP)
        with pytest.raises(WorkerLostError, match="its worker was killed, perhaps because"):
            worker.run(task, 60)
    finally:
        worker.close()
    worker = WorkerProcess(silence=0.5)
    worker.start()
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerLostError, match=r"its worker hangs: no sign of life for 0.5 s"):
        worker.run(task, 60)


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.3])
def test_one_that_is_stopped_is_lost_at_once_and_starts_no_other_process(moment):
    task = {"model": "gone.onnx", "blueprint": "gone.yaml", "output": "o", "fidelity": "estimates"}
    worker = WorkerProcess()
    timer = threading.Timer(moment, worker.stop)
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(WorkerLostError):
            while True:
                worker.run(task, 60)
        with pytest.raises(WorkerLostError, match="its worker was stopped"):
            worker.run(task, 60)
    finally:
        timer.join()
        worker.close()
    assert worker.pid is None and time.monotonic() - begin < 20  # and not when its silence is too long


KILLED = """
import sys
from brainsmith.blueprint.space.space import load_space
from brainsmith.exploration.exploring import Exploration
space = load_space(sys.argv[1])
Exploration(space, __import__("pathlib").Path(sys.argv[2]), sys.argv[3]).run(space.points())
"""


@pytest.mark.slow
def test_a_coordinator_that_is_killed_goes_on_where_it_was(tmp_path):
    (tmp_path / "space.yaml").write_text(SPACE.replace("[1000, 100000]", "[1000, 10000, 100000, 1000000]"))
    command = [sys.executable, "-c", KILLED, str(tmp_path / "space.yaml"), str(tmp_path / "out"), str(MODEL)]
    process = subprocess.Popen(command)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.05)
        if (tmp_path / "out" / "journal.sqlite").exists() and any(
            run.state == "done" for run in PointJournal(tmp_path / "out").runs()
        ):
            break
    process.kill()
    process.wait()
    before = {run.key: run.figures for run in PointJournal(tmp_path / "out").runs() if run.state == "done"}
    assert before
    space = load_space(tmp_path / "space.yaml")
    runs = Exploration(space, tmp_path / "out", str(MODEL)).run(space.points())
    assert {run.state for run in runs} == {"done"} and len(runs) == 4
    assert {run.key: run.figures for run in runs if run.key in before} == before


def test_an_interrupt_before_a_worker_has_a_point_lets_it_wait(space, tmp_path, monkeypatch):
    exploration = Exploration(space, tmp_path / "out", str(MODEL))
    text = type(space).text
    given = []

    def interrupted(self, point, named=None):
        if named is None:  # the file of a point that was begun
            given.append(point)
            raise KeyboardInterrupt
        return text(self, point, named)

    monkeypatch.setattr(type(space), "text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        exploration.run(space.points())
    assert len(given) == 1
    runs = PointJournal(tmp_path / "out").runs()
    assert [(run.state, run.tries) for run in runs] == [("waiting", 0), ("waiting", 0)]
