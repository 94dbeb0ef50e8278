"""Isolated ops: how soon a worker is there, and what one call costs, beside the same op in this process."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import ROOT
from ops_native import build
from ops_timing import Figure, slower

from brainsmith import native, ops

SOURCE = ROOT / "examples" / "native_c" / "c_plugin_example.c"
OPENING_MS, CALL_US = 200.0, 100.0
COUNT = 1_000_000


def measure() -> list[Figure]:
    """Build the examples in a folder of their own, and measure."""
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        path = Path(folder) / "libc_plugin_example.so"
        flags = ["-O3", "-shared", "-fPIC", f"-I{native.include_folder()}"]
        subprocess.run(["cc", *flags, str(SOURCE), "-o", str(path), "-lm"], check=True)
        return [_gelu(build(Path(folder) / "target")), _opening(path), *_calls(path)]


def _gelu(path: Path) -> Figure:
    x = ops.shared_like(np.random.default_rng(0).standard_normal(COUNT).astype(np.float32))
    here, apart = native.open_library(path), native.open_library(path, isolation="process")
    isolated, own = (next(op for op in one.ops if op.name == "rust_gelu") for one in (apart, here))
    figure = slower(
        "isolated process on 1 M shared elements, over in-process",
        lambda: isolated.call([x], {}),
        lambda: own.call([x], {}),
        1.3,
    )
    apart.close()
    here.close()
    return figure


def _opening(path: Path) -> Figure:
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        library = native.open_library(path, isolation="process")
        times.append((time.perf_counter() - begin) * 1e3)
        library.close()
    found = statistics.median(times)
    return Figure(
        "isolated: opening a library, its worker started and heard",
        f"{found:.0f} ms (least {min(times):.0f})",
        f"<= {OPENING_MS:g} ms",
        found <= OPENING_MS,
    )


def _calls(path: Path) -> list[Figure]:
    here, apart = native.open_library(path), native.open_library(path, isolation="process")
    own, isolated = ({op.name: op for op in one.ops} for one in (here, apart))
    small, large = ops.shared_empty(1), ops.shared_empty(COUNT)
    small[:], large[:] = 1, 1
    best = min(_seconds(lambda: isolated["c_leaky_relu"].forward(small)) for _ in range(200)) * 1e6
    figures = [
        Figure(
            "isolated: a call on one shared element", f"{best:.0f} us", f"<= {CALL_US:g} us", best <= CALL_US
        ),
        slower(
            "isolated c_softplus on 1 M shared elements, over in-process",
            lambda: isolated["c_softplus"].forward(large),
            lambda: own["c_softplus"].forward(large),
            1.3,
        ),
    ]
    apart.close()
    here.close()
    return figures


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    for _ in range(20):
        call()
    return (time.perf_counter() - begin) / 20
