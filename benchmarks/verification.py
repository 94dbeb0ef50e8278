"""Print what verification costs a whole build whose steps are all reused: by array programs, and by QONNX's own execution.

    python benchmarks/verification.py

Each is a process of its own, in turn: `brainsmith build` as it is, with `BRAINSMITH_DEVICE=reference`, whose target calls
`execute_onnx` for each sample, and with `--no-verify`. Wall time; all 360 golden inputs and their labels.
"""

from __future__ import annotations

import statistics
import sys

from measure import ROOT, Figures, compile_package, empty_cache, environment, row, run_once

NETWORKS = ("mlp", "cnn")
RUNS = 5


def main() -> None:
    """Measure and print everything."""
    compile_package()
    with empty_cache() as cache:
        for name in NETWORKS:
            model, blueprint = ROOT / f"examples/digits/{name}.onnx", ROOT / f"blueprints/digits_{name}.yaml"
            build = [sys.executable, "-m", "brainsmith", "build", str(model), "--blueprint", str(blueprint)]
            kinds = {
                "array programs": (environment(cache), []),
                "execute_onnx": (environment(cache, BRAINSMITH_DEVICE="reference"), []),
                "none": (environment(cache), ["--no-verify"]),
            }
            figures = {kind: Figures() for kind in kinds}
            for run in range(RUNS + 1):  # the first one fills the caches
                for kind, (env, more) in kinds.items():
                    command = [*build, "--output", str(cache / f"out_{name}"), *more]
                    run_once(command, env, figures[kind] if run else Figures(), cwd=cache)
            print(f"a build of digits {name} with all steps reused, medians of {RUNS}, run in turn:")
            for kind in kinds:
                print(f"  verified by {kind:<16} {figures[kind].median_s:6.2f} s")
            each = {kind: figures[kind].seconds for kind in kinds}
            slow = statistics.median(
                s / f for s, f in zip(each["execute_onnx"], each["array programs"], strict=True)
            )
            row(
                f"whole build of digits {name}, execute_onnx over array programs",
                f"{slow:.1f} x",
                "above 1 x",
                reached=slow > 1,
            )
            costs = {kind: statistics.median(each[kind]) - statistics.median(each["none"]) for kind in kinds}
            share = costs["execute_onnx"] / max(costs["array programs"], 1e-3)
            title = f"verification of digits {name} alone, execute_onnx over array programs"
            row(title, f"{share:.0f} x", "above 1 x", reached=share > 1)


if __name__ == "__main__":
    main()
