"""Size a design's FIFOs: measured with gauges, made smaller by search, checked in the design that is shipped."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError
from brainsmith.figures import plural
from brainsmith.progress import Task
from brainsmith.rtl.sizing.adjustable import capacities_of
from brainsmith.rtl.sizing.fifo_hardware import held
from brainsmith.rtl.sizing.gauge_reading import read_gauges
from brainsmith.rtl.sizing.gauges import LEAST_RUNS, enough_frames, is_searched, run_cycles
from brainsmith.rtl.sizing.shrink import Budget, Rate, shrink
from brainsmith.rtl.sizing.sizing_runs import Runner
from brainsmith.rtl.sizing.values_left_out import leave_values_out
from brainsmith.rtl.verification.design_runs import is_short
from brainsmith.rtl.verification.frame_time import predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.sizing.gauge_reading import Gauged
    from brainsmith.rtl.sizing.gauges import Gauge
    from brainsmith.rtl.stitching.design import Design

TOLERANCE = 1.01
"""How much longer than the estimate an interval may be."""

_LONGER = 8
_ATTEMPTS = 3

_MEASURED = 300
"""Seconds that a run may take, as it is predicted, which shows the rate of the design that is shipped."""


@dataclass(frozen=True)
class Sizing:
    """The result of sizing.

    Attributes:
        design: With its FIFOs.
        gauges: The depths with which no FIFO ever stalls a beat at the steady rate, by the names of links.
        interval: Cycles from one frame to the next, measured in `design`; that of its layers where a note says so.
        minimal: Whether it is shown that no FIFO can be smaller while the others stay.
        simulations: How many were run.
        cycles: How many those took.
        seconds: The time that all of it took, with building the simulations.
        notes: What did not go as it should, as sentences.
        latency: Cycles of a frame with FIFOs that take all beats.
        cycles_per_second: How fast the design was simulated.
        layers_alone: How many layers were simulated alone to gauge the design; 0 where it was simulated as a whole.
        unsettled: Those of them whose state did not return, so that their gauges hold for the frames that were simulated,
            and not for any number.
    """

    design: Design
    gauges: dict[str, int]
    interval: float
    minimal: bool
    simulations: int
    cycles: int
    seconds: float
    notes: tuple[str, ...] = ()
    latency: int | None = None
    cycles_per_second: int | None = None
    layers_alone: int = 0
    unsettled: tuple[str, ...] = ()

    def report(self) -> dict[str, Any]:
        """Return all of it as data for JSON; `total_bits` are those that the hardware holds, at least 5 beats."""
        fifos: list[dict[str, Any]] = [
            {
                "name": link.name,
                "from": str(link.source),
                "to": str(link.target),
                "bits": link.bits,
                "depth": link.depth,
                "gauge": self.gauges[link.name],
                "total_bits": link.bits * held(link.depth, link.bits),
            }
            for link in self.design.links
            if not link.weights
        ]
        return {
            "fifos": fifos,
            "total_bits": sum(fifo["total_bits"] for fifo in fifos),
            "gauge_bits": sum(fifo["bits"] * held(fifo["gauge"], fifo["bits"]) for fifo in fifos),
            "interval": self.interval,
            "interval_estimate": self.design.interval,
            "minimal": self.minimal,
            "simulations": self.simulations,
            "cycles": self.cycles,
            "seconds": round(self.seconds, 1),
            "notes": list(self.notes),
            "latency": self.latency,
            "cycles_per_second": self.cycles_per_second,
            "layers_alone": self.layers_alone,
            "unsettled": list(self.unsettled),
        }


def size_fifos(
    design: Design, inputs: Mapping[str, NDArray[Any]], *, search: bool = True, budget: Budget | None = None
) -> Sizing:
    """Give a design the smallest FIFOs with which it runs at its estimated rate.

    What is simulated computes no values where a layer's cycles do not depend on them (`leave_values_out`); the design that
    is shipped is then measured, and if it is slower, all is done again with values.

    Gauges tell how full FIFOs become at that rate; with such depths they never stall a beat. They are read in one
    simulation of the whole design, or layer by layer where it is large: both say the same. A search then makes the FIFOs
    smaller, one after the other, as long as the frames come at the same interval. Every link
    gets a FIFO, also where a wire would do: FINN's FIFO has registers at both ends, which keep the longest paths within
    the layers.

    Args:
        design: The depths of its FIFOs do not matter.
        inputs: By tensor: (frames, *shape of one), whole numbers. They are repeated as often as needed.
        search: Whether to search; the depths are those of the gauges otherwise.
        budget: How much the search may simulate; `Budget()` by default.

    Raises:
        SimulationStalledError: The design does not give its frames, with FIFOs of any depth.
        SimulationError: It reported an error, or the tools reject it.
        ToolError: A tool is missing or too old.
    """
    begin = time.perf_counter()
    timed, done = leave_values_out(design), None
    with Task("sizing FIFOs"):
        if timed is not design:
            # Where it stands still or is slower than measured, some layer's cycles do depend on values.
            with suppress(SimulationError):
                done = _size(design, timed, inputs, search, budget or Budget())
        done = done or _size(design, design, inputs, search, budget or Budget())
    assert done is not None
    return replace(done, seconds=time.perf_counter() - begin)


def _size(
    design: Design, timed: Design, inputs: Mapping[str, NDArray[Any]], search: bool, budget: Budget
) -> Sizing | None:
    """Size the FIFOs of a design by the cycles of another; None if those are not its own."""
    found = read_gauges(timed, inputs, search)
    gauged, cycles = found.gauge, run_cycles(found.gauge.interval, found.gauge.latency)
    depths, minimal = gauged.depths, False
    notes: list[str] = []
    if search and found.runner is None and not is_searched(gauged.interval, gauged.latency, budget.cycles):
        notes.append(_unsearched(gauged, budget))
    elif search:
        found.runner = found.runner or Runner(timed, inputs, capacities_of(timed, gauged.depths))
        depths, minimal, notes = _searched(found.runner, gauged, budget)
    sized = design.with_depths(depths)
    if cycles / predict(design).cycles_per_second > _MEASURED:  # the layers show the rate, too
        notes.append(_unmeasured(gauged))
        return _sizing(sized, found, minimal, notes, float(gauged.interval), None)
    interval, speed = _real_interval(sized, inputs, gauged)
    if interval > TOLERANCE * gauged.interval and timed is not design:
        return None
    if interval > TOLERANCE * gauged.interval and search:
        notes.append(
            f"with the depths of the search a frame takes {interval:,.1f} cycles instead of {gauged.interval:,} in "
            "FINN's FIFOs, so all FIFOs are as deep as the gauges say"
        )
        sized, minimal = design.with_depths(gauged.depths), False
        interval, speed = _real_interval(sized, inputs, gauged)
    return _sizing(sized, found, minimal, notes, interval, speed)


def _sizing(
    sized: Design, found: Gauged, minimal: bool, notes: list[str], interval: float, speed: int | None
) -> Sizing:
    if interval > TOLERANCE * sized.interval:
        notes.append(
            f"a frame takes {interval:,.1f} cycles, and the estimate is {sized.interval:,}: deeper FIFOs do not help"
        )
    return Sizing(
        sized, found.gauge.depths, interval, minimal, found.simulations, found.cycles, 0.0, tuple(notes),
        found.gauge.latency, speed, found.layers[0], found.unsettled,
    )  # fmt: skip


def _unsearched(gauged: Gauge, budget: Budget) -> str:
    cycles = run_cycles(gauged.interval, gauged.latency)
    return (
        f"the FIFOs are as deep as the gauges say: a search needs {LEAST_RUNS} runs of {cycles:,} cycles at least, and may "
        f"simulate {budget.cycles:,}"
    )


def _unmeasured(gauged: Gauge) -> str:
    return (
        f"the interval of {gauged.interval:,} cycles is that of the layers, each simulated alone: a run of the whole "
        f"circuit, of {run_cycles(gauged.interval, gauged.latency):,} cycles, would take too long"
    )


def _searched(runner: Runner, gauged: Gauge, budget: Budget) -> tuple[dict[str, int], bool, list[str]]:
    """Search, and make sure that the rate holds for many more frames; where it drifts, search with longer runs."""
    bits = {link.name: link.bits for link in runner.design.links}
    frames = enough_frames(gauged.in_flight)
    for _ in range(_ATTEMPTS):
        rate = Rate(runner, gauged.depths, frames, budget)
        shrunk = shrink(gauged.depths, bits, rate)
        frames = _longer(frames, gauged, budget)
        if rate.is_kept_by(runner.run(frames, shrunk.depths)):
            note = (
                f"the search ended early, after {plural(runner.simulations, 'simulation')} of "
                f"{plural(runner.cycles, 'cycle')}"
            )
            return shrunk.depths, shrunk.minimal, [] if shrunk.minimal else [note]
    note = "the depths that the search found lose the rate in the long run, so all are those of the gauges"
    return gauged.depths, False, [note]


def _longer(frames: int, gauged: Gauge, budget: Budget) -> int:
    """Return the frames of a run that shows a slow drift: many more than before, within a part of the budget."""
    return max(frames, min(_LONGER * frames, budget.cycles // (_LONGER * gauged.interval)))


def _real_interval(
    design: Design, inputs: Mapping[str, NDArray[Any]], gauged: Gauge
) -> tuple[float, int | None]:
    """Measure a design with FINN's own FIFOs: cycles from frame to frame, and cycles simulated in a second."""
    frames = enough_frames(gauged.in_flight)
    runner = Runner(design, inputs, quick=is_short(design, frames))
    interval = runner.run(frames).interval
    return interval, round(runner.cycles / runner.seconds) if runner.seconds else None
