"""Print how fast a design space is planned and known by the models, and what shared steps save.

Whole processes with empty caches, beside that of `brainsmith --version`.

python benchmarks/explore.py
"""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from distributed import Client
from measure import Figures, compile_package, environment, row, run_once

from brainsmith.blueprint.space.space import load_space
from brainsmith.exploration.exploring import Exploration
from brainsmith.exploration.point_crew import PointWorker
from brainsmith.exploration.point_task import PointTask
from brainsmith.store.reads import Reads

ROOT = Path(__file__).parents[1]
POINTS, SECONDS, SECONDS_BY_MODELS = 100_000, 2.0, 60.0
FASTER, CLUSTER = 3.3, 1.6
DIGITS = ROOT / "examples" / "digits" / "cnn.onnx"
RESNET = ROOT / "tests" / "exports" / "resnet_block.onnx"
WORKERS, SECONDS_OF_POINT = 1000, 3.0
AGAIN = 5

SPACE = """\
variables:
  rate: {range: [1000, 100000, 1000]}
explore:
  model: {choice: [w4.onnx, w2.onnx, w8.onnx, w3.onnx, w1.onnx], name: bits}
  constraints: ["rate >= 1000 or bits != 'w1.onnx'", "clock in ['5 ns', 4, 3, 6, 10, 8, 7, 3.5, 9, 4.5]"]
  objectives: {fps: max, cost: min}
hw_compiler:
  target:
    part: {choice: [pynq-z2, zcu104, kv260, ultra96, zcu102], name: board}
    fps: ${rate}
    clock: {choice: [5 ns, 4, 3.5, 6, 10, 8, 7, 3, 9, 4.5], name: clock}
  change_steps:
    - {insert: {optional: {transform: qonnx:GiveUniqueNodeNames}, name: unique}, after: cleanup}
    - {insert: {optional: {transform: qonnx:GiveReadableTensorNames}, name: readable}, after: cleanup}
"""

MODELLED = """\
explore:
  model: MODEL
  objectives: {fps: max, cost: min}
hw_compiler:
  target:
    part: {choice: [pynq-z2, kv260, zcu104, ultra96], name: board}
    fps: {range: [1, 12500], name: rate}
    clock: {choice: [5 ns, 10 ns], name: clock}
"""

# Sixteen points that share their front ends: 4 front ends, 4 rates.
SHARED = """\
explore:
  model: MODEL
  objectives: {fps: max, cost: min}
hw_compiler:
  target:
    part: {choice: [pynq-z2, kv260], name: board}
    fps: {choice: [10, 100, 500, 1000], name: rate}
    clock: 5 ns
  kernels: {finn:MVAU: {choice: [rtl, EmbeddedMVAURTL], name: unit}}
"""


def main() -> None:
    """Print a row for each number."""
    compile_package()
    _plan()
    _by_models()
    _shared("a ResNet block", RESNET)
    _shared("the digits CNN, small", DIGITS)
    _cluster()
    _coordinated()


def _plan() -> None:
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        (Path(folder) / "space.yaml").write_text(SPACE)
        env = environment(Path(folder) / "cache", PYTHONPATH=str(ROOT))
        planned, started = Figures(), Figures()
        for _ in range(AGAIN):
            run_once(
                [sys.executable, "-m", "brainsmith", "plan", f"{folder}/space.yaml"],
                env,
                planned,
                Path(folder),
            )
            run_once([sys.executable, "-m", "brainsmith", "--version"], env, started, Path(folder))
    seconds = planned.median_s
    row(
        f"a space of {POINTS:,} points planned",
        f"{seconds:.2f} s",
        f"{SECONDS:g} s",
        reached=seconds <= SECONDS,
    )
    print(f"  the start of a process alone takes {started.median_s:.2f} s")


class _AtOnce:
    """A worker that answers at once."""

    usable = True

    def run(self, task: PointTask, seconds: float) -> dict[str, Any]:
        """Return some figures."""
        del task, seconds
        return {"figures": {"fps": 1.0, "lut": 1.0}, "seconds": 0.0, "outside": Reads().plain()}


class _Thousand:
    """So many workers that answer at once."""

    most, patience = WORKERS, None

    def __init__(self) -> None:
        self._new: list[PointWorker] = [_AtOnce() for _ in range(WORKERS)]

    def arrivals(self) -> Iterable[PointWorker]:
        """Return those that have nothing to do."""
        new, self._new = self._new, []
        return new

    def give_back(self, workers: Iterable[PointWorker]) -> None:
        """Take those back that have nothing to do."""
        self._new += workers

    def wait(self) -> None:
        """Return: they are all there."""

    def stop(self) -> None:
        """Do nothing: they answered."""

    close = stop


def _coordinated() -> None:
    """Let one coordinator give all points to workers that answer at once: what it takes is what it costs."""
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as name:
        folder = Path(name)
        _space(name, MODELLED)
        space = load_space(folder / "space.yaml")
        begin = time.perf_counter()
        runs = Exploration(space, folder / "out", crew=_Thousand).run(space.points())
        each = (time.perf_counter() - begin) / len(runs)
    assert all(run.state == "done" for run in runs)
    row(
        f"{len(runs):,} points given to {WORKERS:,} workers that answer at once, for each",
        f"{each * 1e3:.1f} ms",
        f"{SECONDS_OF_POINT / WORKERS * 1e3:g} ms",
        reached=each <= SECONDS_OF_POINT / WORKERS,
    )
    print(
        f"  so one coordinator keeps {SECONDS_OF_POINT / each:,.0f} workers busy whose points take {SECONDS_OF_POINT:g} s"
    )


def _space(folder: str, text: str, model: Path = DIGITS) -> list[str]:
    """Write a space of a network, and return the command that explores it."""
    (Path(folder) / "space.yaml").write_text(text.replace("MODEL", str(model)))
    return [
        *(sys.executable, "-m", "brainsmith", "explore", "--blueprint", f"{folder}/space.yaml"),
        "--output",
    ]


def _by_models() -> None:
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        command = [*_space(folder, MODELLED), f"{folder}/out", "--produce", "models"]
        found = Figures()
        run_once(command, environment(Path(folder) / "cache", PYTHONPATH=str(ROOT)), found, Path(folder))
        seconds = found.median_s
        row(
            f"{POINTS:,} points of the digits CNN by models alone, 8 front ends",
            f"{seconds:.1f} s",
            f"{SECONDS_BY_MODELS:g} s",
            reached=seconds <= SECONDS_BY_MODELS,
        )


def _shared(name: str, model: Path) -> None:
    """Compare two workers that share steps with one after another that share nothing."""
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        command = _space(folder, SHARED, model)
        alone, shared = Figures(), Figures()
        for figures, cache, *words in (
            (alone, "none", f"{folder}/alone", "--no-cache"),
            (shared, "cache", f"{folder}/shared", "--jobs", "2"),
        ):
            run_once(
                [*command, *words],
                environment(Path(folder) / cache, PYTHONPATH=str(ROOT)),
                figures,
                Path(folder),
            )
        part = 1 - _typical(Path(folder) / "shared") / _typical(Path(folder) / "alone")
    times = alone.median_s / shared.median_s
    row(
        f"16 points of {name}, {part:.0%} shared, 2 workers over one after another without a cache",
        f"{times:.1f} x ({alone.median_s:.1f} s, {shared.median_s:.1f} s)",
        f"{FASTER:g} x",
        reached=times >= FASTER,
    )


def _typical(folder: Path) -> float:
    """Return what a point took whose worker was there already."""
    points = json.loads((folder / "explore.json").read_text())["points"]
    return statistics.median(float(point["seconds"]) for point in points)


def _cluster() -> None:
    """Compare two Dask workers with one, tools on one thread each, without a cache."""
    seconds = []
    for workers in (1, 2):
        with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
            env = environment(Path(folder) / "cache", PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            where = f"tcp://127.0.0.1:{port}"
            commands = [["scheduler", "--host", "127.0.0.1", "--port", str(port)]]
            commands += [
                ["worker", where, "--nthreads", "1", "--local-directory", folder] for _ in range(workers)
            ]
            with ExitStack() as last:
                for kind, *words in commands:
                    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words, "--no-dashboard"]
                    process = subprocess.Popen(
                        command,
                        env=env,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        start_new_session=True,
                    )
                    last.callback(process.wait)
                    last.callback(os.killpg, process.pid, signal.SIGKILL)
                with Client(where, timeout=30) as client:
                    client.wait_for_workers(workers, timeout=60)
                figures = Figures()
                command = [*_space(folder, SHARED, RESNET), f"{folder}/out", "--no-cache"]
                run_once([*command, "--on", f"dask://127.0.0.1:{port}"], env, figures, Path(folder))
                seconds.append(figures.median_s)
    times = seconds[0] / seconds[1]
    row(
        "16 points by 2 Dask workers over 1",
        f"{times:.2f} x ({seconds[0]:.1f} s, {seconds[1]:.1f} s)",
        f"{CLUSTER:g} x",
        reached=times >= CLUSTER,
    )


if __name__ == "__main__":
    main()
