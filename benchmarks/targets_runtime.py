"""What the runtime around targets costs, and whether it keeps its promises among threads.

    python benchmarks/targets_runtime.py

All of it on the digits MLP: switching to a target whose model is prepared; executing through a manager beside the target's
own method; 8 threads that execute while another one switches, every result compared with that of its own sample.
"""

from __future__ import annotations

import gc
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import row

from brainsmith.targets import Prepared, ResourceManager

DIGITS = Path(__file__).resolve().parents[1] / "examples/digits"
MODEL = DIGITS / "mlp.onnx"
TARGETS = ("numpy", "onnxruntime")
THREADS, EXECUTES, SWITCHES = 8, 10_000, 100

Array = np.ndarray[Any, Any]


def switch_ms(manager: ResourceManager, turns: int = 200) -> list[float]:
    """Return what switching and finding the prepared model took, each time, in milliseconds."""
    taken = []
    for turn in range(turns):
        begin = time.perf_counter()
        manager.switch_plugin(TARGETS[turn % 2])
        manager.prepare_resource(MODEL)
        taken.append(1e3 * (time.perf_counter() - begin))
    return taken


def overhead_us(
    manager: ResourceManager, prepared: Prepared, x: Array, turns: int = 2000
) -> tuple[float, float]:
    """Return the medians of executing one sample by the target itself and by a manager, in turn, in microseconds."""
    own, managed = [], []
    for _ in range(turns):
        begin = time.perf_counter()
        prepared.target.execute(prepared, x)
        middle = time.perf_counter()
        manager.execute(prepared, x)
        own.append(middle - begin)
        managed.append(time.perf_counter() - middle)
    return 1e6 * statistics.median(own), 1e6 * statistics.median(managed)


def storm(manager: ResourceManager, prepared: list[Prepared], images: Array) -> tuple[int, int, float]:
    """Return how many results are missing or not those of their sample, how many calls were counted, and the seconds."""
    expected = [manager.execute(one, images)["logits"] for one in prepared]
    before = sum(profile.executes for profile in manager.profiles().values())
    wrong: list[tuple[int, int]] = []
    done = [0] * THREADS
    start = threading.Barrier(THREADS + 1)

    def execute(number: int) -> None:
        start.wait()
        for at in range(EXECUTES // THREADS):
            which, sample = (number + at) % 2, (number * 37 + at) % len(images)
            logits = manager.execute(prepared[which], images[sample : sample + 1])["logits"]
            if not np.array_equal(logits[0], expected[which][sample]):
                wrong.append((number, at))
            done[number] += 1

    threads = [threading.Thread(target=execute, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    start.wait()
    begin = time.perf_counter()
    for turn in range(SWITCHES):
        manager.switch_plugin(TARGETS[turn % 2])
        time.sleep(0.001)
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    counted = sum(profile.executes for profile in manager.profiles().values()) - before
    return len(wrong) + EXECUTES - sum(done), counted, seconds


def left_over(kind: type) -> int:
    """Return how many objects of a class are alive."""
    gc.collect()
    return sum(isinstance(one, kind) for one in gc.get_objects())


def main() -> None:
    """Print the table; exit with 1 if a figure is not reached."""
    images = np.load(DIGITS / "digits_mlp_x.npy").reshape(-1, 64).astype(np.float32)
    with ResourceManager().initialize(auto_discover=False) as manager:
        prepared = []
        for name in TARGETS:
            manager.switch_plugin(name)
            prepared.append(manager.prepare_resource(MODEL))
        switches = switch_ms(manager)
        own, managed = overhead_us(manager, prepared[0], images[:1])
        lost, counted, seconds = storm(manager, prepared, images)
    del prepared
    left = left_over(Prepared)
    median = statistics.median(switches)
    figures = [
        ("switch to a target whose model is prepared, median", f"{median:.2f} ms", "5 ms", median <= 5),
        ("  the longest of 200", f"{max(switches):.2f} ms", "", True),
        ("one sample on numpy: the target's own execute", f"{own:.0f} us", "", True),
        ("  through a manager", f"{managed:.0f} us", "", True),
        (
            f"{THREADS} threads, {EXECUTES:,} executes, {SWITCHES} switches: lost or mixed",
            f"{lost}",
            "0",
            lost == 0,
        ),
        ("  calls that the profiles count", f"{counted:,}", f"{EXECUTES:,}", counted == EXECUTES),
        ("  taken", f"{seconds:.1f} s", "", True),
        ("prepared resources alive after the manager closed", f"{left}", "0", left == 0),
    ]
    for what, found, goal, reached in figures:
        row(what, found, goal, reached=reached)
    sys.exit(not all(reached for *_, reached in figures))


if __name__ == "__main__":
    main()
