"""What holding a build to its lock costs: the same unchanged build with and without, in turn, as whole processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import ROOT, compile_package, environment, row

LOCKED = 0.020
"""Seconds that `build --locked` may take more than `build`."""

ROUNDS = 15


def locked() -> None:
    """Build the digits again and again, in turn with and without --locked; print the difference of the medians."""
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        env = environment(Path(folder) / "cache", PYTHONPATH=str(ROOT))
        blueprint = Path(folder) / "b.yaml"
        blueprint.write_text(f"extends: {ROOT}/blueprints/digits_mlp.yaml\nhw_compiler: {{}}\n")
        command = [sys.executable, "-m", "brainsmith"]
        build = [*command, "build", f"{ROOT}/examples/digits/mlp.onnx", "--blueprint", str(blueprint)]
        build += ["--output", f"{folder}/out", "--quiet"]
        subprocess.run(
            [*command, "lock", str(blueprint), "--json"], env=env, stdout=subprocess.DEVNULL, check=True
        )
        taken: dict[str, list[float]] = {"": [], "--locked": []}
        for _ in range(ROUNDS + 1):
            for option, seconds in taken.items():
                begin = time.perf_counter()
                subprocess.run([*build, *filter(None, [option])], env=env, check=True)
                seconds.append(time.perf_counter() - begin)
        without, held = (statistics.median(seconds[1:]) for seconds in taken.values())
    print(f"  build {without * 1e3:.0f} ms, build --locked {held * 1e3:.0f} ms")
    more = held - without
    row("build --locked over build", f"{more * 1e3:.0f} ms", f"{LOCKED * 1e3:.0f} ms", reached=more <= LOCKED)
