"""Native ops: calls against numpy's expression of the same, and how long it takes to load a library and let it go."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, compile_package, row

from brainsmith import ops
from brainsmith.native import open_library

Row = tuple[str, str, str, bool]
"""What was measured, what was found, the goal, and whether it is reached."""

ONE_ELEMENT, MILLION, LOADING_MS = 1.5, 3.0, 100.0


def numpy_gelu(x: Any) -> Any:
    """Return gelu's tanh form; with `x**3` it would take numpy many times as long."""
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))


def native_gelu(x: Any) -> Any:
    """Return it from the library, called by name."""
    return ops.execute_custom_op("rust_gelu", [x])


def in_turn(functions: list[Callable[[], Any]], repeats: int, rounds: int = 15) -> list[float]:
    """Return the least seconds of a call to each function, in rounds in which all have their turn."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for at, function in enumerate(functions):
            begin = time.perf_counter()
            for _ in range(repeats):
                function()
            best[at] = min(best[at], (time.perf_counter() - begin) / repeats)
    return best


def build(folder: Path) -> Path:
    """Build the example in Rust; without cargo there is nothing to measure."""
    if shutil.which("cargo") is None:
        sys.exit("the native figures need cargo, to build examples/native_rust; https://rustup.rs")
    command = ["cargo", "build", "--offline", "--release", "--quiet", "--target-dir", str(folder)]
    subprocess.run(command, cwd=ROOT / "examples" / "native_rust", check=True)
    return folder / "release" / "librust_plugin_example.so"


def measure() -> list[Row]:
    """Return the rows of the table."""
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        path = build(Path(folder))
        return [*_calls(path), *_loading(path)]


def _calls(path: Path) -> list[Row]:
    library = open_library(path)
    for op in library.ops:
        ops.register_custom_op(op)
    one = np.array([0.7], np.float32)
    many = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
    native, plain = in_turn([lambda: native_gelu(one), lambda: numpy_gelu(one)], 2000)
    rows = [
        (
            "native rust_gelu on one element, over its numpy expression",
            f"{native / plain:.2f} x ({native * 1e6:.1f} us)",
            f"<= {ONE_ELEMENT} x",
            native / plain <= ONE_ELEMENT,
        )
    ]
    native, plain = in_turn([lambda: native_gelu(many), lambda: numpy_gelu(many)], 1)
    rows.append(
        (
            "native rust_gelu on 1 M float32, faster than numpy",
            f"{plain / native:.1f} x ({native * 1e3:.1f} ms)",
            f">= {MILLION:g} x",
            plain / native >= MILLION,
        )
    )
    for op in library.ops:
        ops.unregister_custom_op(op.name)
    library.close()
    return rows


def _loading(path: Path) -> list[Row]:
    times = []
    for _ in range(11):
        begin = time.perf_counter()
        open_library(path).close()
        times.append((time.perf_counter() - begin) * 1e3)
    found = statistics.median(times)
    text = f"{found:.0f} ms (least {min(times):.0f})"
    return [("load, probe and unload of a library", text, f"<= {LOADING_MS:g} ms", found <= LOADING_MS)]


if __name__ == "__main__":
    for what, found, goal, reached in measure():
        row(what, found, goal, reached=reached)
