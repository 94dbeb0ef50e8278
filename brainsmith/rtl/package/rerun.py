"""Simulate a package from its own files: whole tensors in, whole tensors out, and whether they are golden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import OutputError, SimulationError
from brainsmith.rtl.package.frame_order import as_frames, stored_type
from brainsmith.rtl.package.running import RunnablePackage
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.verification.design_runs import is_short

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.package.reading import AcceleratorPackage
    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.stitching.design import Design


@dataclass(frozen=True)
class Rerun:
    """The result of simulating a package.

    Attributes:
        frames: How many were simulated.
        outputs: By the names of outputs: (frames, *shape of one).
        interval: Cycles from one frame to the next; None for one frame.
        latency: Cycles from the first beat of the first frame to the last of its result.
        compared: Frames whose inputs are golden, so that their outputs were compared.
        wrong: Which of them do not have the golden outputs.
        result: Of the simulation.
    """

    frames: int
    outputs: dict[str, NDArray[Any]]
    interval: float | None
    latency: int
    compared: int
    wrong: tuple[int, ...]
    result: SimulationResult


def simulate_package(
    package: AcceleratorPackage,
    given: Mapping[str, NDArray[Any]] | None = None,
    *,
    frames: int | None = None,
    seed: int | None = None,
    trace: Path | None = None,
    limit: int | None = None,
) -> Rerun:
    """Build a package's simulator, or take the one of the same files that was built before, and run it.

    Args:
        package: What to simulate.
        given: By the names of inputs: (frames, *shape), whole numbers, in the design's shape or that of the network
            that was built; the golden inputs by default.
        frames: How many of them, from the first on; all by default.
        seed: Of random stalls at all ends; none by default.
        trace: The VCD file to write.
        limit: The cycles after which the run is given up.

    Raises:
        BuildError: A file of the package cannot be read.
        OutputError: The VCD file cannot be written.
        SimulationError: The inputs do not fit, the tools reject a source, or the result cannot be trusted.
        SimulationStalledError: Not all came out within the limit.
        ToolError: g++ or Verilator is missing.
    """
    design = package.design
    inputs = _inputs(package, given, frames)
    if trace is not None and not trace.parent.is_dir():
        raise OutputError(f"{trace}: there is no such folder; make it first")
    count = len(next(iter(inputs.values())))
    plan = package.watched_plan() if trace is None else package.plan(trace=True)
    golden = package.all_golden()
    # Optimised as the build needed it for the golden vectors, so that the simulator which it left is used.
    quick = is_short(design, max([count, *map(len, golden.values())]))
    runnable = RunnablePackage(package, build_simulator(plan, quick=quick))
    tensors = {stream.layout.tensor: inputs[stream.name] for stream in design.inputs}
    constant = _constant(design, golden, inputs)
    run = runnable.run(tensors, seed=seed, limit=limit, constant=constant, trace=trace)
    outputs = {
        stream.name: run.outputs[stream.layout.tensor].astype(stored_type(stream.layout))
        for stream in design.outputs
    }
    compared, wrong = _compare(golden, inputs, outputs)
    return Rerun(count, outputs, run.interval, run.latency, compared, wrong, run.result)


def _inputs(
    package: AcceleratorPackage, given: Mapping[str, NDArray[Any]] | None, frames: int | None
) -> dict[str, NDArray[np.int64]]:
    """Return the frames to feed, by stream, as the design takes them."""
    found = {}
    for stream in package.design.inputs:
        golden = given is None
        values = package.golden(stream.name) if given is None else given[stream.name]
        order = None if golden else package.orders.get(stream.name)
        try:
            found[stream.name] = as_frames(np.asarray(values), stream.layout, order)
        except ValueError as error:
            what = "the golden input" if golden else "the input"
            raise SimulationError(f"{what} for stream {stream.name} does not fit: {error}") from error
    counts = {name: len(values) for name, values in found.items()}
    if len(set(counts.values())) != 1:
        raise SimulationError(f"all inputs must have as many frames as the others, not {counts}")
    there = next(iter(counts.values()))
    if frames is not None and not 1 <= frames <= there:
        raise SimulationError(f"{frames} frames are asked for, and there are {there}: ask for 1 to {there}")
    return {name: values[:frames] for name, values in found.items()}


def _constant(
    design: Design, golden: Mapping[str, NDArray[Any]], inputs: Mapping[str, NDArray[Any]]
) -> list[str]:
    """Return the outputs that may have one value in all beats: where all inputs are golden, those for which it is."""
    if not golden or not all(_equal(golden[name], values).all() for name, values in inputs.items()):
        return []
    count = len(next(iter(inputs.values())))
    found = []
    for stream in design.outputs:
        values = golden[stream.name][:count]
        if values.size and not values.size % stream.layout.lanes:
            beats = values.reshape(-1, stream.layout.lanes)
            found += [stream.name] if (beats == beats[:1]).all() else []
    return found


def _compare(
    golden: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, NDArray[Any]],
    outputs: Mapping[str, NDArray[Any]],
) -> tuple[int, tuple[int, ...]]:
    """Return how many frames have golden inputs, and which of those do not have the golden outputs."""
    if not golden:
        return 0, ()
    known = [_equal(golden[name], values) for name, values in inputs.items()]
    right = [_equal(golden[name], values) for name, values in outputs.items()]
    compared = np.all(known, axis=0)
    wrong = compared & ~np.all(right, axis=0)
    return int(compared.sum()), tuple(int(frame) for frame in np.flatnonzero(wrong))


def _equal(golden: NDArray[Any], values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of each frame whether it is the golden one of its number."""
    equal = np.zeros(len(values), bool)
    if golden.shape[1:] == values.shape[1:]:
        count = min(len(golden), len(values))
        equal[:count] = (golden[:count] == values[:count]).reshape(count, -1).all(axis=1)
    return equal
