"""How deep FIFOs must be, measured with FINN's gauges in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.top_module import maximum_fill
from brainsmith.rtl.verification.frames import run_design

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design, DesignStream

LEAST = 2
"""FINN's FIFO has no less."""


def measure_depths(
    simulator: Simulator, design: Design, inputs: Mapping[str, NDArray[Any]]
) -> dict[str, int]:
    """Measure how full FIFOs without bounds become at the design's estimated rate: what depth is enough.

    Inputs are throttled to that rate, so that the first FIFO is not inflated (FINN, "rtlsim-based FIFO sizing").

    Args:
        simulator: Built of the design with gauges.
        design: Says which links may have a FIFO.
        inputs: By tensor; enough frames to fill the pipeline.

    Returns:
        Depths in beats, by the names of links.
    """
    stalls = {stream.name: steady(stream, design.interval) for stream in design.inputs}
    run = run_design(simulator, design, inputs, stalls=stalls)
    return {name: max(fill, LEAST) for name, fill in maximum_fill(design, dict(run.result.values)).items()}


def steady(stream: DesignStream, interval: int) -> Stalls:
    """Return the stalls that let one frame pass in an interval, its beats spread evenly."""
    beats = stream.layout.beats
    go = {at * interval // beats for at in range(beats)}
    return Stalls.pattern(at not in go for at in range(interval))
