"""`brainsmith bench`: how fast targets run a model: throughput, and how latencies are distributed."""

from __future__ import annotations

import math
import time
from contextlib import closing
from typing import TYPE_CHECKING

from brainsmith.cli.array_options import Inputs
from brainsmith.cli.model_options import HINT, check_model, is_without_build, resources
from brainsmith.cli.terminal import complain
from brainsmith.errors import BrainsmithError, TargetError, UnsupportedResourceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.execution.signature import ModelSignature
    from brainsmith.runtime.resource_manager import ResourceManager

COLUMNS = ("target", "prepare ms", "median ms", "90 % ms", "99 % ms", "worst ms", "samples/s", "batch")
"""The columns, in order. Latencies are of one run of the model; samples a second of all inputs in one call."""

SECONDS = 1.0
"""How long each of the two figures of a target is measured, about."""

RANDOM_SAMPLES = 256


def run(options: Options, terminal: Terminal) -> int:
    """Measure one target after the other, and print a row for each."""
    model = options.required("MODEL")
    check_model(model)
    devices = [part.strip() for part in options.required("--targets").split(",") if part.strip()]
    if not devices:
        raise UsageError("--targets must list one target or more, such as numpy,onnxruntime")
    given = options.text("--input")
    inputs = None if given is None else Inputs(given)
    rows: list[tuple[str, ...]] = []
    with resources(model, devices, options, terminal, inputs) as each:
        try:
            failed = _measure_each(each, inputs, terminal, rows)
        finally:  # what is done is printed, whatever ends it
            terminal.write_over("")
            terminal.table(COLUMNS, rows)
            terminal.flush()
        if failed and not rows:
            raise failed[0]
        for error in failed:
            complain(f"error: {error}")
    if any(isinstance(error, UnsupportedResourceError) for error in failed) and is_without_build(model, each):
        complain(f"  {HINT}")
    return 1 if failed else 0


def _measure_each(
    each: Mapping[str, str], inputs: Inputs | None, terminal: Terminal, rows: list[tuple[str, ...]]
) -> list[BrainsmithError]:
    """Add a row for each target that can be measured, and return why others cannot."""
    from brainsmith.runtime.resource_manager import ResourceManager

    failed: list[BrainsmithError] = []
    with closing(ResourceManager({"device": next(iter(each))})) as manager:
        for device, resource in each.items():
            terminal.write_over(f"{device} ...")
            try:
                rows.append(_measure(manager, device, resource, inputs))
            except BrainsmithError as error:
                failed.append(error)
    return failed


def _measure(manager: ResourceManager, device: str, resource: str, inputs: Inputs | None) -> tuple[str, ...]:
    manager.use_device(device)
    begin = time.perf_counter()
    prepared = manager.prepare_resource(resource)
    prepare = time.perf_counter() - begin
    signature = prepared.signature
    if signature is None:
        raise TargetError(f"target '{device}' does not say what the model's inputs are")
    feed = _random_inputs(signature, RANDOM_SAMPLES) if inputs is None else inputs.feed(device, signature)
    arrays, runs = signature.checked(feed)
    single = {name: stack[0] for name, stack in signature.stacked(arrays, runs).items()}
    latencies = sorted(_times(lambda: manager.execute(prepared, single)))
    whole = min(_times(lambda: manager.execute(prepared, arrays)))
    samples = runs * signature.batch
    shown = [latencies[max(0, math.ceil(len(latencies) * share) - 1)] for share in (0.5, 0.9, 0.99, 1.0)]
    times = [f"{seconds * 1e3:,.3f}" for seconds in shown]
    return device, f"{prepare * 1e3:,.1f}", *times, f"{samples / whole:,.0f}", f"{samples:,}"


def _times(call: Any) -> list[float]:
    """Return how long calls took: as many as fit in the time, one at least, after one that does not count."""
    call()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return times


def _random_inputs(signature: ModelSignature, runs: int) -> Mapping[str, NDArray[Any]]:
    """Return inputs that the datatypes allow, the same ones every time."""
    import numpy as np
    from qonnx.core.datatype import DataType

    from brainsmith.execution.inputs import draw

    generator = np.random.default_rng(0)
    stacks = {s: draw(generator, DataType[s.datatype], (runs, *s.shape)) for s in signature.inputs}
    return {spec.name: spec.joined(stack.astype(spec.dtype)) for spec, stack in stacks.items()}
