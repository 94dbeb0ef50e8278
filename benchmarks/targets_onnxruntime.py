"""The target `onnxruntime` against QONNX's own `execute_onnx`: speed, equality, preparing in a second process.

    python benchmarks/targets_onnxruntime.py
    python benchmarks/targets_onnxruntime.py --model M --input X.npy     # another network

The reference runs few samples one by one, the target the whole test set in one call, in turn in this process. Times are
the processor's, of all threads, so that other processes do not count; the best of some samples each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import row
from ops_timing import Figure
from targets import Network, networks, run_reference

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = 12
"""How many the reference runs."""

LEVELS = 255
"""Of a pixel of the super-resolution networks; one that differs is one level off."""

PREPARE = """
import json, sys, time
spent, passed = [time.process_time()], [time.perf_counter()]
def lap():
    spent.append(time.process_time())
    passed.append(time.perf_counter())
import onnxruntime
lap()
from brainsmith.targets.onnxruntime import OnnxRuntime
target = OnnxRuntime()
lap()
prepared = target.prepare_resource(sys.argv[1])
lap()
from brainsmith.execution.onnx.sessions import open_session
open_session(prepared.payload.model.content, 1)
lap()
print(json.dumps([[1e3 * (after - before) for before, after in zip(t, t[1:])] for t in (spent, passed)]))
"""


def measure(more: tuple[Network, ...] = ()) -> list[Figure]:
    """Measure the networks that ship, and others that are given."""
    figures = []
    for network in (*networks(), *more):
        figures.extend(_measure(network))
    return figures


def _measure(network: Network) -> list[Figure]:
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx

    from brainsmith.execution.runnable import runnable_copy
    from brainsmith.targets.onnxruntime import OnnxRuntime

    target = OnnxRuntime()
    prepared = target.prepare_resource(network.model)
    assert prepared.signature is not None
    (spec,) = prepared.signature.inputs
    inputs = network.inputs.reshape(-1, *spec.shape[1:]).astype(spec.dtype)
    few = inputs[: SAMPLES * spec.shape[0]]
    model = runnable_copy(ModelWrapper(str(network.model)))
    expected, _ = run_reference(model, spec, few)
    (name, *_) = (output.name for output in prepared.signature.outputs)
    found = target.execute(prepared, few)[name]
    wanted = np.concatenate([run[name] for run in expected])
    runs = len(inputs) // spec.shape[0]
    each, alone = _in_turn(
        lambda: target.execute(prepared, inputs),
        lambda: execute_onnx(model, {spec.name: few[: spec.shape[0]]}),
    )
    each /= runs
    ratio = alone / each
    what = f"{network.name}, {runs:,} sample{'s' * (runs > 1)}"
    if "espcn" in network.name:
        speed = Figure(
            f"{what}, against execute_onnx", f"{1e3 * each:.1f} ms, {ratio:.1f} x faster", "runs", True
        )
    else:
        speed = Figure(
            f"{what}, against execute_onnx",
            f"{1e6 * each:.1f} us, {ratio:,.0f} x faster",
            ">= 500 x",
            ratio >= 500,
        )
    return [speed, _equality(network, found, wanted), _prepare(network)]


def _equality(network: Network, found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> Figure:
    what = f"{network.name}, values that differ from execute_onnx's"
    wrong, worst = int((found != wanted).sum()), float(np.abs(found - wanted).max())
    if "espcn" in network.name:
        reached = wrong <= wanted.size * 1e-4 and worst <= 1 / LEVELS + 1e-6
        return Figure(
            what, f"{wrong} of {wanted.size:,}, by {worst * LEVELS:.2g} levels", "<= 1e-4, by 1", reached
        )
    return Figure(what, f"{wrong} of {wanted.size:,}", "0", wrong == 0)


def _prepare(network: Network) -> Figure:
    """Prepare in further processes, after ONNX Runtime and the target were imported.

    What counts is the time of the processor, which other processes do not lengthen; the time that passed is shown.
    """
    laps = []
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-c", PREPARE, str(network.model)], check=True, capture_output=True, text=True
        )
        laps.append(json.loads(done.stdout))
    spent, passed = min(laps, key=lambda lap: float(lap[0][2]))
    importing, target, prepare, session = spent
    imports = f"imports {importing:.0f} + {target:.0f}"
    found = f"{prepare:.0f} ms, {passed[2]:.0f} passed (session {session:.0f}; {imports})"
    return Figure(f"{network.name}, prepare in a second process", found, "<= 50 ms", prepare <= 50)


def _in_turn(
    target: Callable[[], object], reference: Callable[[], object], samples: int = 7
) -> tuple[float, float]:
    """Return the processor's seconds of a call of the target, and of the reference for one sample."""
    best = [float("inf")] * 2
    for _ in range(samples):
        for at, call in enumerate((target, reference)):
            begin = time.process_time()
            call()
            best[at] = min(best[at], time.process_time() - begin)
    return best[0], best[1]


def main() -> None:
    """Print the table; exit with 1 if a figure is not reached."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="another network")
    parser.add_argument("--input", type=Path, help="its samples, (samples, ...) in a .npy file")
    given = parser.parse_args()
    more = (Network(given.model.stem, given.model, np.load(given.input)),) if given.model else ()
    figures = measure(more)
    for figure in figures:
        row(figure.what, figure.found, figure.goal, reached=figure.reached)
    sys.exit(not all(figure.reached for figure in figures))


if __name__ == "__main__":
    main()
