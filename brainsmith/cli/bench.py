"""`brainsmith bench`: how fast targets run a model: throughput, and how latencies are distributed."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from brainsmith.cli.models import check_model, read_inputs, resources
from brainsmith.errors import TargetError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.cli.arguments import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.execution.signature import ModelSignature
    from brainsmith.runtime.manager import ResourceManager

COLUMNS = ("target", "prepare ms", "median ms", "90 % ms", "99 % ms", "worst ms", "samples/s", "batch")
"""The columns, in order. Latencies are of one run of the model; samples a second of all inputs in one call."""

SECONDS = 1.0
"""How long each of the two figures of a target is measured, about."""

RANDOM_SAMPLES = 256


def run(options: Options, terminal: Terminal) -> int:
    """Measure one target after the other, and print a row for each."""
    from brainsmith.runtime.manager import ResourceManager

    model = options.required("MODEL")
    check_model(model)
    devices = [part.strip() for part in options.required("--targets").split(",") if part.strip()]
    if not devices:
        raise UsageError("--targets must list one target or more, such as numpy,onnxruntime")
    rows = []
    with (
        resources(model, devices, options, terminal) as each,
        ResourceManager({"device": devices[0]}) as manager,
    ):
        for device in devices:
            terminal.write_over(f"{device} ...")
            rows.append(_measure(manager, device, each[device], options.text("--input")))
    terminal.write_over("")
    terminal.table(COLUMNS, rows)
    return 0


def _measure(manager: ResourceManager, device: str, resource: str, file: str | None) -> tuple[str, ...]:
    manager.use_device(device)
    begin = time.perf_counter()
    prepared = manager.prepare_resource(resource)
    prepare = time.perf_counter() - begin
    if prepared.signature is None:
        raise TargetError(f"target '{device}' does not say what the model's inputs are")
    feed = (
        read_inputs(file, prepared.signature) if file else random_inputs(prepared.signature, RANDOM_SAMPLES)
    )
    arrays, runs = prepared.signature.checked(feed)
    single = {name: stack[0] for name, stack in prepared.signature.stacked(arrays, runs).items()}
    latencies = sorted(_times(lambda: manager.execute(prepared, single)))
    whole = min(_times(lambda: manager.execute(prepared, arrays)))
    samples = runs * prepared.signature.batch
    shown = [latencies[max(0, math.ceil(len(latencies) * share) - 1)] for share in (0.5, 0.9, 0.99, 1.0)]
    times = [f"{seconds * 1e3:,.3f}" for seconds in shown]
    return device, f"{prepare * 1e3:,.1f}", *times, f"{samples / whole:,.0f}", f"{samples:,}"


def _times(call: Any) -> list[float]:
    """Return how long calls took: as many as fit in the time, one at the least, after one that does not count."""
    call()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return times


def random_inputs(signature: ModelSignature, runs: int) -> Mapping[str, NDArray[Any]]:
    """Return inputs that the datatypes allow, the same ones every time: whole numbers of their range, else a normal.

    Args:
        signature: Of the model.
        runs: How many.
    """
    import numpy as np
    from qonnx.core.datatype import DataType

    generator = np.random.default_rng(0)
    arrays = {}
    for spec in signature.inputs:
        shape, datatype = (runs, *spec.shape), DataType[spec.datatype]
        if datatype.name == "BIPOLAR":
            values = generator.choice(np.asarray([-1.0, 1.0]), shape)
        elif datatype.is_integer():
            low, high = max(int(datatype.min()), -(2**15)), min(int(datatype.max()), 2**15)
            values = generator.integers(low, high, shape, endpoint=True).astype(np.float64)
        else:
            values = generator.normal(size=shape)
        arrays[spec.name] = spec.joined(values.astype(spec.dtype))
    return arrays
