"""How much faster a node is as instructions on many samples than its own `execute_node`, sample by sample.

Each line is one operator at a usual size; both sides get the same samples in turns, and their results are compared.
What counts is the processor's time, so that a busy machine does not matter; for one thread: OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from lowering_cases import RANDOM, cases, whole
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.execution.program.array_program import Program
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugin.adapters.finn_runtime import prepare_finn

SAMPLES, SINGLES, ROUNDS = 256, 8, 5
Array = np.ndarray[Any, Any]


def by_node(model: ModelWrapper, stack: Array) -> Callable[[], Array]:
    """Return what runs a node's own Python on samples one by one."""
    (node,) = model.graph.node
    operation = getCustomOp(node)
    constants = {tensor.name: model.get_initializer(tensor.name) for tensor in model.graph.initializer}
    shape = model.get_tensor_shape("y")

    def run() -> Array:
        results = []
        for sample in stack:
            context = {"x": sample, "y": np.zeros(shape, np.float32), **constants}
            operation.execute_node(context, model.graph)
            results.append(context["y"])
        return np.stack(results)

    return run


def samples(model: ModelWrapper) -> Array:
    """Draw samples that the input's datatype allows."""
    datatype = model.get_tensor_datatype("x")
    size = (SAMPLES, *model.get_tensor_shape("x"))
    if not datatype.is_integer():
        return RANDOM.normal(0, 1.5, size).astype(np.float32)
    return whole(int(datatype.min()), int(datatype.max()), *size)


def without_checks(program: Program) -> Program:
    """Leave out that the input is held to its datatype, which `execute_node` does not do either."""
    if any(made.function.startswith("foreign") for made in program.instructions):
        raise SystemExit(f"{program.instructions[-1].source} has no lowering")
    kept = tuple(made for made in program.instructions if not made.function.startswith("checks."))
    return replace(program, instructions=kept)


def measure(model: ModelWrapper) -> tuple[float, float]:
    """Return microseconds per sample: of the node, and of its program."""
    stack = samples(model)
    program, node = without_checks(lower(runnable_copy(model))), by_node(model, stack[:SINGLES])
    np.testing.assert_array_equal(program.run({"x": stack})["y"][:SINGLES], node())
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for at, (run, count) in enumerate(((node, SINGLES), (lambda: program.run({"x": stack}), SAMPLES))):
            begin = time.process_time()
            run()
            best[at] = min(best[at], (time.process_time() - begin) / count * 1e6)
    return best[0], best[1]


def main() -> None:
    """Print the table, and the least and the greatest ratio."""
    prepare_finn()
    ratios = {}
    print("| node | execute_node, us | program, us | times |\n| --- | ---: | ---: | ---: |")
    for name, model in cases().items():
        before, after = measure(model)
        ratios[name] = before / after
        print(f"| {name} | {before:.1f} | {after:.2f} | {ratios[name]:.1f} |", flush=True)
    ordered = sorted(ratios, key=lambda name: ratios[name])
    print(
        f"\nleast: {ordered[0]} {ratios[ordered[0]]:.1f}; greatest: {ordered[-1]} {ratios[ordered[-1]]:.0f}"
    )


if __name__ == "__main__":
    main()
