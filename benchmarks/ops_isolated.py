"""A native op in a process of its own, over the same op in this one, on arrays that both share."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import ROOT
from benchmarks.ops_timing import Figure, slower
from brainsmith import ops
from brainsmith.native import open_library

COUNT = 1_000_000
LINE = "isolated process on 1 M shared elements, over in-process"


def measure() -> list[Figure]:
    """Build the crate in a folder of its own, and measure; without cargo the line says so."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return [Figure(LINE, "not measured: needs cargo", "<= 1.3 x", reached=False)]
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        crate = Path(folder) / "native_rust"
        shutil.copytree(ROOT / "examples" / "native_rust", crate, ignore=shutil.ignore_patterns("target"))
        subprocess.run([cargo, "build", "--offline", "--release", "-q"], cwd=crate, check=True)
        return [_isolated(crate / "target" / "release" / "librust_plugin_example.so")]


def _isolated(path: Path) -> Figure:
    x = ops.shared_like(np.random.default_rng(0).standard_normal(COUNT).astype(np.float32))
    here, apart = open_library(path), open_library(path, isolation="process")
    try:
        isolated, own = (next(op for op in one.ops if op.name == "rust_gelu") for one in (apart, here))
        return slower(LINE, lambda: isolated.call([x], {}), lambda: own.call([x], {}), 1.3)
    finally:
        apart.close()
        here.close()
