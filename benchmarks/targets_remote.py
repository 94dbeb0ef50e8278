"""What it costs to execute on a target that another process serves, beside the same target in this process.

    python benchmarks/targets_remote.py

The digits MLP on the target numpy, over loopback: one sample, and a megabyte of samples; each call here and there in turn,
medians of both. Results are compared bit for bit.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from brainsmith.targets import Prepared, ResourceManager

DIGITS = Path(__file__).resolve().parents[1] / "examples/digits"
MODEL = DIGITS / "mlp.onnx"
SERVER = (sys.executable, "-m", "brainsmith", "serve-target", "numpy", "--port", "0")

Array = np.ndarray[Any, Any]


def both_ms(here: ResourceManager, there: ResourceManager, x: Array, turns: int) -> tuple[float, float]:
    """Return the medians of executing here and there, in milliseconds.

    Raises:
        AssertionError: Results are not the same.
    """
    sides = [(here, here.prepare_resource(MODEL)), (there, there.prepare_resource(MODEL))]
    results = [manager.execute(prepared, x)["logits"].tobytes() for manager, prepared in sides]
    assert results[0] == results[1]
    taken: list[list[float]] = [[], []]
    for _ in range(turns):
        for times, (manager, prepared) in zip(taken, sides, strict=True):
            times.append(_execute_ms(manager, prepared, x))
    return statistics.median(taken[0]), statistics.median(taken[1])


def _execute_ms(manager: ResourceManager, prepared: Prepared, x: Array) -> float:
    begin = time.perf_counter()
    manager.execute(prepared, x)
    return 1e3 * (time.perf_counter() - begin)


def main() -> None:
    """Print the table."""
    flat = np.load(DIGITS / "digits_mlp_x.npy").reshape(-1, 64).astype(np.float32)
    large = np.resize(flat, (4096, 64))
    with subprocess.Popen(SERVER, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split(" at ")[1].partition(",")[0]
        config = {"device": "remote", "targets": {"remote": {"url": url}}}
        with ResourceManager({"device": "numpy"}) as here, ResourceManager(config) as there:
            begin = time.perf_counter()
            there.prepare_resource(MODEL)
            print(f"prepared there for the first time in {1e3 * (time.perf_counter() - begin):.1f} ms")
            print(f"{'inputs':>12} {'here':>10} {'there':>10} {'added':>10}")
            for x, turns in ((flat[:1], 1000), (large, 100)):
                own, remote = both_ms(here, there, x, turns)
                print(f"{x.nbytes:>10,} B {own:>7.3f} ms {remote:>7.3f} ms {remote - own:>7.3f} ms")
        server.terminate()


if __name__ == "__main__":
    main()
