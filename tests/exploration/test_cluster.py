"""Exploring with a real Dask cluster: who builds, who is refused, who dies, and what is left."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial

import numpy as np
import onnx
import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.errors import ExplorationError
from brainsmith.exploration import cluster
from brainsmith.exploration.cluster import ClusterCrew
from brainsmith.exploration.cluster_worker import CODE
from brainsmith.exploration.exploring import Exploration
from brainsmith.exploration.ladder import explore
from brainsmith.exploration.point_journal import PointJournal
from brainsmith.exploration.point_process import WorkerLostError
from brainsmith.store.reads import Reads, file_digest
from tests.cli.command import ROOT, TRANSFORM

DIGITS = ROOT / "examples" / "digits"
SPACE = """\
explore: {objectives: {fps: max, lut: min, accuracy: max}}
hw_compiler:
  target: {part: pynq-z2, clock: 5 ns, fps: {choice: [RATES], name: rate}}
  verify: {inputs: x.npy, labels: y.npy}
"""


def space_in(folder, rates="1000, 10000, 100000, 1000000"):
    """Write a space beside its golden data; return it."""
    folder.mkdir(exist_ok=True)
    np.save(folder / "x.npy", np.load(DIGITS / "digits_mlp_x.npy")[:40])
    np.save(folder / "y.npy", np.load(DIGITS / "digits_y.npy")[:40])
    (folder / "space.yaml").write_text(SPACE.replace("RATES", rates))
    return load_space(folder / "space.yaml")


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Processes:
    """A scheduler and workers, as a user starts them."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.address = f"dask://127.0.0.1:{self.port}"
        self.started = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))

    def worker(self, *words, cwd=None):
        where = f"tcp://127.0.0.1:{self.port}"
        return self._start(
            *("worker", where, "--nthreads", "1", "--local-directory", str(self.folder), *words), cwd=cwd
        )

    def _start(self, kind, *words, cwd=None):
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, *words, "--no-dashboard"]
        with (self.folder / f"{kind}{len(self.started)}.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=cwd, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self.started.append(process)
        return process

    def end(self):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def processes(tmp_path):
    (tmp_path / "dask").mkdir()
    found = Processes(tmp_path / "dask")
    yield found
    found.end()


def uncached(processes, space, folder):
    """An exploration by these workers that reuses no step."""
    crew = partial(ClusterCrew, processes.address)
    return Exploration(space, folder / "out", str(DIGITS / "mlp.onnx"), crew=crew, use_cache=False)


SIX = "1000, 10000, 100000, 1000000, 2000000, 20000"


@contextmanager
def first_done(exploration, points, act):
    """Act once after the first point that is done; yield the runs as they end."""
    with ExitStack() as last:
        runs = exploration.iterate(points)
        last.callback(runs.close)

        def told():
            for at, run in enumerate(runs):
                if at == 0:
                    act()
                yield run

        yield told()


@pytest.mark.slow
def test_two_workers_build_and_what_they_made_is_here(tmp_path):
    from distributed import LocalCluster

    space = space_in(tmp_path / "space")
    model = onnx.load(DIGITS / "mlp.onnx")
    onnx.save(
        model, tmp_path / "mlp.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
    ) as local:
        address = local.scheduler_address.replace("tcp://", "dask://")
        heard = []
        with Exploration(
            space,
            tmp_path / "out",
            str(tmp_path / "mlp.onnx"),
            crew=partial(ClusterCrew, address),
            listener=heard.append,
        ) as exploration:
            explored = explore(exploration, produce="rtl")
            assert not list((tmp_path / "dask").rglob("*.part"))
    assert [(run.state, run.tries) for run in explored.runs] == [("done", 1)] * 4
    assert {run.fidelity for run in explored.runs} == {"rtl"} and len(heard) == 4 + 4
    here = Exploration(space, tmp_path / "here", str(tmp_path / "mlp.onnx")).run(space.points())
    there = [run for run in heard if run.fidelity == "estimates"]
    assert sorted((run.key, sorted(run.figures.items())) for run in there) == sorted(
        (run.key, sorted(run.figures.items())) for run in here
    )
    for run in there:
        folder = tmp_path / "out" / "points" / run.key[:16]
        report = json.loads((folder / "estimates" / "report.json").read_text())
        assert report["blueprint"]["file"] == str(folder / "blueprint.yaml")
        assert report["model"]["file"] == str(tmp_path / "mlp.onnx")
        assert report["accuracy"]["samples"] == 40
        assert (folder / "estimates" / "report.html").is_file()
        assert (folder / "estimates" / "model.onnx").is_file()


def answer_of(megabytes):
    """Return an answer after a while that is none of the looks' length."""
    time.sleep(0.01 + megabytes / 1000)
    return {"output": bytes(megabytes << 20)}


@pytest.mark.slow
def test_an_answer_that_comes_between_two_looks_or_is_long_on_its_way_is_not_lost(processes, monkeypatch):
    processes.worker()
    crew = ClusterCrew(processes.address)
    while not (found := list(crew.arrivals())):
        crew.wait()
    monkeypatch.setattr(cluster, "_LOOK", 0.002)
    for megabytes in (0, 1, 30) * 20:
        future = crew.submit(found[0].address, answer_of, megabytes)
        assert len(found[0]._answer(future, time.monotonic() + 60)["output"]) == megabytes << 20
    crew.close()


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_a_try_and_another_one_builds(processes, tmp_path):
    space = space_in(tmp_path / "space", SIX)
    first = processes.worker("--no-nanny")
    exploration = uncached(processes, space, tmp_path)

    def act():
        processes.worker("--no-nanny")
        os.killpg(first.pid, signal.SIGKILL)

    with first_done(exploration, space.points(), act) as runs:
        ended = list(runs)
    assert {run.state for run in PointJournal(tmp_path / "out").runs()} == {"done"}
    (tried,) = (run for run in ended if run.state == "waiting")
    assert re.fullmatch(r"its worker tcp://\S+ (left the cluster|was lost: .*)", tried.reason)
    assert sorted(run.tries for run in ended if run.state == "done") == [1, 1, 1, 1, 1, 2]


@pytest.mark.slow
def test_a_scheduler_that_vanishes_ends_it_and_no_point_is_to_blame(processes, tmp_path, capfd):
    space = space_in(tmp_path / "space", SIX)
    processes.worker()
    exploration = uncached(processes, space, tmp_path)

    def act():
        os.killpg(processes.scheduler.pid, signal.SIGKILL)

    with first_done(exploration, space.points(), act) as runs, pytest.raises(ExplorationError) as caught:
        list(runs)
    assert str(caught.value) == (
        f"the scheduler {processes.address} has vanished: the connection is broken\n"
        "  start it and its workers again, and the same command goes on; no finished point is lost"
    )
    runs = PointJournal(tmp_path / "out").runs()
    assert {run.state for run in runs} == {"done", "waiting"}
    assert all(run.tries == (run.state == "done") for run in runs)
    assert capfd.readouterr().err == ""
    again = Exploration(space, tmp_path / "out", str(DIGITS / "mlp.onnx"), jobs=2).run(space.points())
    assert {run.state for run in again} == {"done"}


@pytest.mark.slow
def test_one_that_is_left_ends_what_its_workers_build(processes, tmp_path):
    space = space_in(tmp_path / "space")
    processes.worker()
    exploration = uncached(processes, space, tmp_path)
    runs = exploration.iterate(space.points())
    next(runs)
    end = time.monotonic() + 60
    while not any((tmp_path / "dask").rglob("checkpoints")) and time.monotonic() < end:
        time.sleep(0.05)
    runs.close()
    states = [(run.state, run.tries) for run in PointJournal(tmp_path / "out").runs()]
    assert states.count(("done", 1)) in (1, 2) and states.count(("waiting", 0)) >= 2
    other = Exploration(
        space, tmp_path / "out", str(DIGITS / "mlp.onnx"), crew=partial(ClusterCrew, processes.address)
    )
    begin = time.monotonic()
    assert {run.state for run in other.run(space.points())} == {"done"}
    assert time.monotonic() - begin < 60


@pytest.mark.slow
def test_workers_that_build_with_something_else_are_refused_with_the_difference(
    processes, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "OTHERS", 1.0)
    project = tmp_path / "project"
    (project / ".brainsmith").mkdir(parents=True)
    (project / "plugins").mkdir()
    (project / "plugins" / "keep.py").write_text(TRANSFORM)
    space = space_in(tmp_path / "space", "1000")
    processes.worker(cwd=project)
    warned = []
    exploration = Exploration(
        space,
        tmp_path / "out",
        str(DIGITS / "mlp.onnx"),
        crew=partial(ClusterCrew, processes.address, warn=warned.append),
    )
    why = "plugin transform:project:KeepAll is only there; plugin file plugins/keep.py is only there"
    with pytest.raises(ExplorationError) as caught:
        exploration.run(space.points())
    (address,) = re.findall(r"tcp://[\d.:]+\d", str(caught.value))
    assert str(caught.value) == (
        f"no worker of {processes.address} builds what this machine builds\n  {address}: {why}\n"
        "  start workers with the same packages and tools, in the folder of the same project"
    )
    assert warned == [f"worker {address} is not used: {why}"]
    assert [(run.state, run.tries) for run in PointJournal(tmp_path / "out").runs()] == [("waiting", 0)]
    warned.clear()
    monkeypatch.setattr(cluster, "OTHERS", 60.0)  # a machine that is busy starts workers slowly
    processes.worker(cwd=tmp_path)
    (run,) = exploration.run(
        space.points()
    )  # by the other one, which has not come yet when the first is refused
    assert run.state == "done" and warned == [f"worker {address} is not used: {why}"]


@pytest.mark.slow
def test_where_no_worker_is_it_says_so_in_time(processes, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    end = time.monotonic() + 30
    while True:
        try:
            crew = ClusterCrew(processes.address)
            break
        except ExplorationError:
            assert time.monotonic() < end
    try:
        with pytest.raises(ExplorationError) as caught:
            while not list(crew.arrivals()):
                crew.wait()
    finally:
        crew.close()
    assert str(caught.value) == (
        f"no worker of {processes.address} has answered for 0.5 s: start some with\n"
        f"  dask worker tcp://127.0.0.1:{processes.port} --nthreads 1\n"
        "and the same command goes on; no finished point is lost"
    )


class FakeClient:
    """A client of a cluster whose workers are said, and which answers as it is told."""

    def __init__(self, **answers):
        self.status, self.answers = "running", answers

    def nthreads(self):
        if self.status != "running":
            raise OSError
        return dict.fromkeys(self.answers, 1)

    def submit(self, function, *given, workers, **how):
        return FakeFuture(self.answers[workers[0]])

    def close(self, timeout):
        self.status = "closed"


class FakeFuture:
    def __init__(self, answer):
        self.answer = answer

    def done(self):
        return self.answer is not None

    def cancel(self):
        pass

    def result(self, timeout):
        if self.answer is None:
            raise TimeoutError
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def crew_of(monkeypatch):
    """Make a crew of a client, without a pause."""
    monkeypatch.setattr(cluster, "_LOOK", 0.0)
    monkeypatch.setattr(cluster, "_has_ended", lambda future, seconds: future.done())
    monkeypatch.setattr(cluster, "environment", lambda: {"package": {"onnx": "1"}})
    made = []

    def make(client):
        monkeypatch.setattr(cluster, "_connected", lambda address: client)
        made.insert(0, ClusterCrew("dask://host:8786", warn=made.append))
        return made[0]

    make.warned = made
    return make


def test_only_those_that_build_with_the_same_are_used_and_the_others_have_their_reason(crew_of, monkeypatch):
    same = {"environment": {"package": {"onnx": "1"}}, "code": CODE}
    client = FakeClient(
        good=same,
        busy=None,
        other={**same, "environment": {"package": {"onnx": "2"}}},
        older={**same, "code": "1"},
        empty=RuntimeError("ignored\nNo module named 'brainsmith'"),
    )
    crew = crew_of(client)
    (worker,) = crew.arrivals()
    assert worker.address == "good" and worker.usable
    crew.wait()  # one may still answer
    assert sorted(crew_of.warned[1:]) == [
        "worker empty is not used: it cannot say what it builds with: No module named 'brainsmith'; brainsmith[cluster] "
        "must be installed there, in the same version",
        "worker older is not used: it was started before brainsmith was installed anew: start it again",
        "worker other is not used: package onnx is 1 here and 2 there",
    ]
    crew.give_back([worker])
    assert list(crew.arrivals()) == [worker]
    del client.answers["good"]
    assert list(crew.arrivals()) == [] and not worker.usable
    client.answers["good"] = same  # under the same address there may be another one now
    (again,) = crew.arrivals()
    assert again is not worker and again.usable and not worker.usable
    del client.answers["good"], client.answers["busy"]
    crew.give_back([worker])
    assert list(crew.arrivals()) == [] and not worker.usable
    crew.wait()  # another one may be starting
    monkeypatch.setattr(cluster, "OTHERS", -1.0)
    with pytest.raises(ExplorationError) as caught:
        crew.wait()
    text = str(caught.value)
    assert text.startswith("no worker of dask://host:8786 builds what this machine builds\n  ")
    assert text.endswith(
        "\n  start workers with the same packages and tools, in the folder of the same project"
    )
    assert "  other: package onnx is 1 here and 2 there\n" in text
    crew.close()


def test_without_workers_or_a_scheduler_it_ends_in_time(crew_of, monkeypatch):
    client = FakeClient()
    crew = crew_of(client)
    assert list(crew.arrivals()) == []
    crew.wait()
    monkeypatch.setattr(cluster, "PATIENCE", -1.0)
    with pytest.raises(ExplorationError) as caught:
        crew.wait()
    assert str(caught.value) == (
        "no worker of dask://host:8786 has answered for -1 s: start some with\n"
        "  dask worker tcp://host:8786 --nthreads 1\nand the same command goes on; no finished point is lost"
    )
    client.status = "connecting"
    assert list(crew.arrivals()) == []  # it may come back
    client.status = "closed"
    with pytest.raises(ExplorationError) as caught:
        crew.arrivals()
    assert str(caught.value) == (
        "the scheduler dask://host:8786 has vanished: the connection is broken\n"
        "  start it and its workers again, and the same command goes on; no finished point is lost"
    )


def test_a_worker_that_leaves_or_fails_is_lost_and_the_point_is_to_blame_only_if_the_scheduler_is_there(
    crew_of,
):
    client = FakeClient(one=None)
    crew = crew_of(client)
    crew.arrivals()
    worker = cluster.ClusterWorker(crew, "one")
    monotonic = time.monotonic()
    crew.present = frozenset()
    for answer, end, text in (
        (None, monotonic + 60, "its worker one left the cluster"),
        (None, monotonic - 1, "its worker one does not answer"),
        (ValueError("killed"), monotonic + 60, "its worker one was lost: killed"),
        (TimeoutError(), monotonic + 60, "its worker one was lost: TimeoutError"),
    ):
        for status, blameless in (("running", False), ("connecting", True)):
            client.status = status
            with pytest.raises(WorkerLostError) as caught:
                worker._answer(FakeFuture(answer), end)
            assert (str(caught.value), caught.value.blameless) == (text, blameless)


def test_a_step_that_read_another_file_there_does_not_count(tmp_path):
    here, gone = tmp_path / "here.csv", tmp_path / "gone.csv"
    here.write_text("1")
    worker = cluster.ClusterWorker(None, "tcp://there:1")
    files = {str(here): file_digest(str(here)), "/usr/include/strange.h": "1", "/project/plugins/a.py": "2"}
    answer = {
        "figures": {"lut": 1},
        "seconds": 2.0,
        "outside": Reads(files, {"/x": "1"}, {"HOME": "3"}).plain(),
        "code": ["/usr", "/project/plugins"],
    }
    assert worker._compared(answer) == {**answer, "outside": Reads({str(here): files[str(here)]}).plain()}
    answer["outside"]["files"][str(gone)] = "4"
    assert worker._compared(answer) == {
        "reason": f"a step read {gone}, which is not the same file on tcp://there:1 as here: put it beside the plugin that "
        "reads it",
        "seconds": 2.0,
    }


def test_a_cluster_that_is_none_is_an_error_at_once(monkeypatch):
    for wrong in ("tcp://localhost:8786", "dask://localhost", "dask://:8786", "localhost:8786"):
        with pytest.raises(ExplorationError) as caught:
            ClusterCrew(wrong)
        assert str(caught.value) == (
            f"a cluster must be named as dask://HOST:PORT, such as dask://localhost:8786, not {wrong!r}"
        )
    monkeypatch.setattr(cluster, "CONNECT", 0.3)
    port = free_port()
    with pytest.raises(ExplorationError) as caught:
        ClusterCrew(f"dask://127.0.0.1:{port}")
    assert str(caught.value) == (
        f"no Dask scheduler answers at dask://127.0.0.1:{port}: start one with 'dask scheduler', and workers with\n"
        f"  dask worker tcp://127.0.0.1:{port} --nthreads 1"
    )
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExplorationError) as caught:
        ClusterCrew("dask://localhost:8786")
    assert str(caught.value) == 'a cluster needs Dask: pip install "brainsmith[cluster]"'
