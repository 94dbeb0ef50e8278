"""How long a fitted build takes, and the same again, when nothing has changed: whole processes."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import ROOT, Figures, compile_package, environment, row, run_once

SECONDS, TIMES = 1.0, 50.0
MODEL, BOARD = "examples/digits/cnn.onnx", "pynq-z2"
AGAIN = 5


def unchanged(options: argparse.Namespace) -> None:
    """Build a network to a synthesised circuit for a board, and again and again."""
    del options
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        command = [sys.executable, "-m", "brainsmith", "build", str(ROOT / MODEL), "--fit", BOARD]
        command += ["--produce", "synthesised", "--output", f"{folder}/out"]
        env = environment(Path(folder) / "cache", PYTHONPATH=str(ROOT))
        first, again = Figures(), Figures()
        run_once(command, env, first, Path(folder))
        for _ in range(AGAIN):
            run_once(command, env, again, Path(folder))
    seconds, before = again.median_s, first.median_s
    print(f"  {MODEL} to a synthesised circuit for {BOARD}: {before:.1f} s at first")
    row("the same again", f"{seconds:.2f} s", f"{SECONDS:g} s", reached=seconds <= SECONDS)
    row(
        "... faster than the first",
        f"{before / seconds:.0f} x",
        f"{TIMES:g} x",
        reached=before >= TIMES * seconds,
    )
