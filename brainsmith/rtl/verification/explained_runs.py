"""Run a design; if the run fails, the error names the layer or FIFO at fault.

For example, a run stands still because a FIFO on one branch of a fork is too small. A simulation of the same design
with every link observed is built, and runs the first few frames. The error's text then says which layer waits for
which, and which FIFO is full; or, if a value is wrong, the first layer whose inputs are right and whose output is
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError, SimulationStalledError
from brainsmith.rtl.verification.design_runs import (
    estimated_cycles,
    first_frames,
    frame_count,
    is_short,
    run_design,
)
from brainsmith.rtl.verification.diagnose import judge_links
from brainsmith.rtl.verification.link_watch import build_watched, watch_design

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.design_runs import DesignRun, RunOptions
    from brainsmith.rtl.verification.diagnosis import Diagnosis

    Tensors = Mapping[str, NDArray[Any]]
    GoldenTensors = Callable[[int], Tensors]
    """The golden model's tensors of the first so many frames, by name."""


FEW = 4
"""Frames, beside those that fill a pipeline, with which a diagnosis begins."""


def run_explained(
    simulator: Simulator,
    design: Design,
    inputs: Tensors,
    golden: GoldenTensors | None = None,
    **how: Unpack[RunOptions],
) -> DesignRun:
    """Run a design as `run_design` does; if it fails, add the diagnosis to the error.

    Args:
        simulator: Built of the design.
        design: Says how tensors lie in streams.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        golden: Gives the right values of all links; without it values are not compared, but a standstill is still
            explained.
        **how: How it is run.

    Raises:
        SimulationStalledError: The run did not end: which layer waits for what, which FIFO is full, and how many
            beats moved at each link.
        SimulationError: The design reported an error, or its outputs cannot be trusted.
        ValueError: Values are not whole, do not fit, or the tensors differ in their frames.
    """
    try:
        return run_design(simulator, design, inputs, **how)
    except SimulationError as problem:
        found = explain(design, inputs, golden, **how)
        kind = SimulationStalledError if isinstance(problem, SimulationStalledError) else SimulationError
        raise kind(f"{problem}\n{found}") from problem


def explain(
    design: Design, inputs: Tensors, golden: GoldenTensors | None, **how: Unpack[RunOptions]
) -> Diagnosis:
    """Repeat a failed run with every link observed, on as few frames as show the fault.

    Args:
        design: What ran.
        inputs: By tensor: (frames, *shape of one).
        golden: As for `run_explained`.
        **how: As the failed run; its limit is used only if all of its frames are needed to show the fault.
    """
    total = frame_count(inputs)
    simulator = build_watched(design, quick=is_short(design, total))
    frames = design.latency // max(design.interval, 1) + FEW
    while True:
        frames = min(frames, total)
        few: RunOptions = {**how, "limit": 1000 + 20 * estimated_cycles(design, frames)}
        fed = first_frames(inputs, frames)
        run = watch_design(simulator, design, fed, **(how if frames == total else few))
        found = judge_links(run, golden(frames) if golden else {})
        if found.kind != "right" or frames == total:
            return found
        frames *= 4
