"""How deep FIFOs must be at most, measured in one run with FIFOs that take all beats."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.sizing.adjustable import UNBOUNDED
from brainsmith.rtl.sizing.composition import gauged_depths

if TYPE_CHECKING:
    from brainsmith.rtl.sizing.sizing_runs import Run, Runner


@dataclass(frozen=True)
class Gauge:
    """What the gauges said.

    Attributes:
        depths: With which no FIFO ever stalls a beat at the steady rate, by the names of links.
        full: The links whose FIFO reached its capacity, so that its depth is not known.
        interval: Cycles from one frame to the next.
        latency: Cycles of the first frame.
    """

    depths: dict[str, int]
    full: tuple[str, ...]
    interval: int
    latency: int

    @property
    def in_flight(self) -> int:
        """Return how many frames are in the pipeline at once."""
        return ceil(self.latency / self.interval)


def gauge(runner: Runner) -> Gauge:
    """Measure how full FIFOs without bounds become while frames come in at the rate at which they go out.

    Inputs are throttled to that rate, so that the first FIFO is not inflated (FINN, "rtlsim-based FIFO sizing"). It is
    the estimate, or what the run shows where the design is slower; then it is run once more. How many frames are in the
    pipeline at once is measured with a single one: the sum of the layers' estimates is many times as long, for layers
    begin before those before them have ended.

    Raises:
        SimulationStalledError: The design does not give its frames, with FIFOs of any depth.
        SimulationError: It reported an error.
    """
    design = runner.design
    interval = design.interval
    first = throttled(runner, 1, interval)
    frames = enough_frames(ceil(first.latency / interval))
    run = throttled(runner, frames, interval)
    if ceil(run.interval) > interval:
        interval = ceil(run.interval)
        run = throttled(runner, frames, interval)
    bits = {link.name: link.bits for link in design.links}
    return Gauge(gauged_depths(run.fills, bits), runner.full(run), interval, run.latency)


LEAST_RUNS = 8
"""Of a search that is worth its compile."""

SEARCH_CYCLES = 50_000_000
"""That the runs of a search may take together."""


def run_cycles(interval: int, latency: int) -> int:
    """Return how many cycles a run of the whole design takes that shows its rate."""
    return enough_frames(ceil(latency / interval)) * interval + latency


def is_searched(interval: int, latency: int, cycles: int = SEARCH_CYCLES) -> bool:
    """Tell whether a design is short enough that a search makes its FIFOs smaller.

    Args:
        interval: Cycles from one frame to the next.
        latency: Cycles of a frame.
        cycles: That the runs of a search may take together.
    """
    return LEAST_RUNS * run_cycles(interval, latency) <= cycles


def enough_frames(in_flight: int) -> int:
    """Return how many frames a run needs of which the last half shall show the steady rate.

    Args:
        in_flight: Frames that are in the pipeline at once: so many pass before all of it is busy.
    """
    return 4 * (in_flight + 1)


def throttled(runner: Runner, frames: int, interval: int) -> Run:
    """Run some frames that come in at a rate, with FIFOs that take all beats."""
    stalls = {stream.name: Stalls.steady(stream.layout.beats, interval) for stream in runner.design.inputs}
    return runner.run(frames, dict.fromkeys(runner.capacities, UNBOUNDED), stalls=stalls)
