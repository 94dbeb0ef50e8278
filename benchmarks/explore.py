"""Print how fast a design space is planned: the whole process, beside that of `brainsmith --version`.

python benchmarks/explore.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import Figures, compile_package, environment, row, run_once

ROOT = Path(__file__).parents[1]
POINTS, SECONDS = 100_000, 2.0
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


def main() -> None:
    """Print a row for each number."""
    compile_package()
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


if __name__ == "__main__":
    main()
