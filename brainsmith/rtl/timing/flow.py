"""The flow of beats through layers whose schedules are known: latency, and how deep FIFOs must be, without a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.sizing.composition import compose, gauged_depths, in_order
from brainsmith.rtl.sizing.fifo_hardware import held
from brainsmith.rtl.sizing.gauges import SEARCH_CYCLES, is_searched, run_cycles
from brainsmith.rtl.sizing.shrink import BudgetSpentError, shrink
from brainsmith.rtl.sizing.traces import THROUGH, LayerTiming, SlowerError, most_waiting
from brainsmith.rtl.stitching.design import DESIGN
from brainsmith.rtl.timing.bounded_flow import BoundedFlow
from brainsmith.rtl.timing.schedule_timing import first_frame, time_schedule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.rtl.sizing.traces import Cycles, Trace
    from brainsmith.rtl.stitching.design import Link
    from brainsmith.rtl.timing.beat_schedule import BeatSchedule

_ATTEMPTS = 8


@dataclass(frozen=True)
class _Early:
    """A steady stream of frames in which each beat moves as early as it can, by the names of links.

    Attributes:
        given: When beats go into each FIFO.
        taken: When they leave it.
        fills: The most beats in each.
    """

    given: dict[str, Trace] = field(default_factory=dict)
    taken: dict[str, Trace] = field(default_factory=dict)
    fills: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Flow:
    """What is known of a design without a simulation.

    Attributes:
        latency: Cycles from a frame's first beat in to its last beat out, of an idle design whose input never waits for
            its source.
        interval: Cycles from one frame to the next.
        early: The most beats in each FIFO if nothing ever waits for a place, by the names of links.
        depths: Of FIFOs with which the design keeps that rate, by the names of links, as a search finds them; those of the
            gauges of a design that is too long to be searched.
        fifo_bits: That these hold.
        gauge_bits: That FIFOs hold which never stall a beat at that rate, while frames come in evenly spread.
    """

    latency: int
    interval: int
    early: dict[str, int]
    depths: dict[str, int]
    fifo_bits: int
    gauge_bits: int


def flow(links: Sequence[Link], schedules: Mapping[str, BeatSchedule], interval: int) -> Flow:
    """Return how beats flow through layers.

    Args:
        links: Between the layers, and from and to the design, each with its layout.
        schedules: By the names of layers.
        interval: Cycles from one frame to the next; a greater one is found if a layer is slower.

    Raises:
        SlowerError: More and more beats wait at any rate.
    """
    interval = max(interval, *(link.beats for link in links))
    early, interval = _steady(links, schedules, interval)
    bits = {link.name: link.bits for link in links}
    latency = first_latency(links, schedules)
    gauged = depths = gauged_depths(early.fills, bits)
    if is_searched(interval, latency):
        bounded = BoundedFlow(links, schedules, early.given, early.taken, interval)
        rate = _Rate(bounded, gauged, bits, run_cycles(interval, latency))
        if rate.is_kept:
            depths = shrink(gauged, bits, rate).depths
    fifo_bits, gauge_bits = (
        sum(bits[name] * held(depth, bits[name]) for name, depth in found.items())
        for found in (depths, gauged)
    )
    return Flow(latency, interval, early.fills, depths, fifo_bits, gauge_bits)


class _Rate:
    """Whether depths keep the rate, for a search as `Rate` is, with the same budget: it ends early where that one does."""

    def __init__(
        self, bounded: BoundedFlow, depths: dict[str, int], bits: Mapping[str, int], cycles: int
    ) -> None:
        self._bounded, self._bits, self._cycles = bounded, bits, cycles
        self.is_kept = self._keeps(depths)
        self._known = {tuple(depths.values()): self.is_kept}

    def __call__(self, depths: dict[str, int]) -> bool:
        """Tell whether depths keep the rate.

        Raises:
            BudgetSpentError: A simulation would have spent its cycles.
        """
        key = tuple(depths.values())
        if key not in self._known:
            if (len(self._known) + 1) * self._cycles >= SEARCH_CYCLES:  # and the run with gauges
                raise BudgetSpentError
            self._known[key] = self._keeps(depths)
        return self._known[key]

    def _keeps(self, depths: Mapping[str, int]) -> bool:
        return self._bounded.keeps_rate(
            {name: held(depth, self._bits[name]) for name, depth in depths.items()}
        )


def first_latency(links: Sequence[Link], schedules: Mapping[str, BeatSchedule]) -> int:
    """Return the cycles from the first beat in to the last beat out of a frame in a design that is empty.

    Args:
        links: As `flow` takes them, like the rest.
        schedules: Likewise.
    """
    due: dict[str, Cycles] = {
        link.name: np.arange(link.beats) + THROUGH for link in links if link.source.layer == DESIGN
    }
    for name, before, behind in in_order(links, list(schedules)):
        given = first_frame(schedules[name], [due.pop(link.name) for link in before])
        due |= {link.name: times + THROUGH for link, times in zip(behind, given, strict=True)}
    return max(int(times[-1]) + 1 for times in due.values())


def _steady(
    links: Sequence[Link], schedules: Mapping[str, BeatSchedule], interval: int
) -> tuple[_Early, int]:
    """Return the stream in which each beat moves as early as it can, at the smallest interval that all layers keep."""
    for _ in range(_ATTEMPTS):
        try:
            return _early(links, schedules, interval), interval
        except SlowerError as slower:
            interval = slower.interval
    return _early(links, schedules, interval), interval


def _early(links: Sequence[Link], schedules: Mapping[str, BeatSchedule], interval: int) -> _Early:
    """Return the stream in which each beat moves as early as it can.

    Raises:
        SlowerError: A layer is slower.
    """
    found = _Early()

    def time(
        name: str, arrivals: Mapping[str, Trace], behind: Mapping[str, int], interval: int
    ) -> LayerTiming:
        timed = time_schedule(schedules[name], list(arrivals.values()), interval)
        traces = dict(zip(behind, timed.given, strict=True))
        found.given.update({**arrivals, **traces})
        found.taken.update(zip(arrivals, timed.taken, strict=True))
        fills = {key: _waiting(arrivals[key], found.taken[key]) for key in arrivals}
        return LayerTiming(fills, traces, True, 0)

    found.fills.update(compose(links, list(schedules), interval, time).fills)
    for link in links:
        if link.target.layer == DESIGN:
            found.taken[link.name] = found.given[link.name].later(THROUGH)
    return found


def _waiting(put: Trace, left: Trace) -> int:
    """Return how many beats wait at most, of those that go in by one trace and leave by another."""
    end = int(max(put.frames[-1, -1], left.frames[-1, -1])) + put.interval + 1
    return most_waiting(put.between(0, end), left.between(0, end))
