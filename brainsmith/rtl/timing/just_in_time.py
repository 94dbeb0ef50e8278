"""How small FIFOs can be while the rate is kept: layers that have time to spare give their beats just in time.

Each beat may move later than it can, as long as those behind it are in time. Any steady stream that the layers can follow
tells depths that are enough: a layer that begins as soon as it can, and waits only for a place that this stream has, is at
no time later than it, by induction over the cycles. So of each layer it is chosen whether it moves its beats as early as it
can, or just in time for those behind it, by what its FIFOs cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.sizing.composition import in_order
from brainsmith.rtl.sizing.fifo_hardware import depth_of, held
from brainsmith.rtl.sizing.traces import THROUGH, SlowerError, Trace, most_waiting
from brainsmith.rtl.stitching.design import DESIGN
from brainsmith.rtl.timing.schedule_timing import time_backwards

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.rtl.sizing.traces import Cycles
    from brainsmith.rtl.stitching.design import Link
    from brainsmith.rtl.timing.beat_schedule import BeatSchedule

_AHEAD = 4
"""Layers that are tried just in time after the last one with which FIFOs became smaller."""


@dataclass(frozen=True)
class Steady:
    """A steady stream of frames in which each beat moves as early as it can.

    Attributes:
        fills: The most beats in each FIFO, by the names of links.
        given: When beats go into each FIFO.
        taken: When they leave it.
        needed: By when they must be there: for what begins then, they leave it later.
    """

    fills: dict[str, int]
    given: dict[str, Trace]
    taken: dict[str, Trace]
    needed: dict[str, Trace]


def just_in_time(
    links: Sequence[Link], schedules: Mapping[str, BeatSchedule], early: Steady, interval: int
) -> dict[str, int]:
    """Return how full FIFOs become, by the names of links, if layers may be late where that costs less.

    Args:
        links: Between the layers, and from and to the design.
        schedules: By the names of layers.
        early: The stream in which nothing waits; its traces repeat after one frame.
        interval: Cycles from one frame to the next.
    """
    stream = _Stream(links, early, interval)
    layers = list(in_order(links, list(schedules)))[::-1]
    begin = 0
    while begin < len(layers):
        begin += 1 + stream.delay(layers[begin:], schedules)
    return stream.fills()


class _Stream:
    """A steady stream, of which some layers are late. Traces stand for their frame of number 0."""

    def __init__(self, links: Sequence[Link], early: Steady, interval: int) -> None:
        self._links = links
        self._interval = interval
        self._costs: dict[str, tuple[Cycles, Cycles, int]] = {}
        self._given = {name: _frame(trace) for name, trace in early.given.items()}
        self._taken = {name: _frame(trace) for name, trace in early.taken.items()}
        self._needed = {name: _frame(trace) for name, trace in early.needed.items()}

    def fills(self) -> dict[str, int]:
        """Return how full the FIFOs become."""
        return {link.name: self._fill(link) for link in self._links}

    def delay(
        self, layers: Sequence[tuple[str, list[Link], list[Link]]], schedules: Mapping[str, BeatSchedule]
    ) -> int:
        """Let as many layers be just in time, the last one first, as make the FIFOs smallest; return how many.

        Those before them stay as early as they can. It ends where the FIFOs between late layers cost more than before: the
        layer there is better early, and what is before it is tried alone.
        """
        first = {link.name: self._cost(link) for _, before, behind in layers for link in (*before, *behind)}
        kept = dict(self._given), dict(self._taken), dict(self._needed)
        least, best, inside = 0, 0, 0
        edge: dict[str, Link] = {}
        for done, (name, before, behind) in enumerate(layers, 1):
            try:
                self._set_late(schedules[name], before, behind)
            except SlowerError:
                break
            inside += sum(self._cost(link) - first[link.name] for link in behind)
            if inside > 0 or done - best > _AHEAD:
                break
            edge = {key: link for key, link in edge.items() if link.source.layer != name}
            edge |= {link.name: link for link in before}
            more = inside + sum(self._cost(link) - first[link.name] for link in edge.values())
            if more < least:
                least, best = more, done
                kept = dict(self._given), dict(self._taken), dict(self._needed)
        self._given, self._taken, self._needed = kept
        return best

    def _set_late(self, schedule: BeatSchedule, before: Sequence[Link], behind: Sequence[Link]) -> None:
        """Let a layer give its beats just in time.

        Raises:
            SlowerError: It cannot be in time, in a stream that repeats after one frame.
        """
        due = [Trace(-self._needed[link.name][::-1][None], 1, self._interval) for link in behind]
        timed = time_backwards(schedule, due, self._interval)
        for cycles, links, traces in (
            (self._given, behind, timed.given),
            (self._taken, before, timed.taken),
            (self._needed, before, timed.needed),
        ):
            cycles |= {link.name: -_frame(trace)[::-1] for link, trace in zip(links, traces, strict=True)}
        for link in before:
            if link.source.layer == DESIGN:  # whoever feeds the design waits for it
                self._given[link.name] = self._needed[link.name] - THROUGH

    def _fill(self, link: Link) -> int:
        """Return the most beats that wait in a link."""
        put, left = self._given[link.name], self._taken[link.name]
        frames = np.arange(2 + max(0, int((left - put).max())) // self._interval)[:, None] * self._interval
        return most_waiting((put + frames).reshape(-1), (left + frames).reshape(-1))

    def _cost(self, link: Link) -> int:
        """Return the bits that a link's FIFO holds."""
        put, left = self._given[link.name], self._taken[link.name]
        known = self._costs.get(link.name)
        if known is None or known[0] is not put or known[1] is not left:
            bits = link.bits * held(depth_of(self._fill(link) + 1, link.bits), link.bits)
            known = self._costs[link.name] = put, left, bits
        return known[2]


def _frame(trace: Trace) -> Cycles:
    """Return the frame of number 0 of what repeats."""
    first: Cycles = trace.frames[-1] - (len(trace.frames) - 1) * trace.interval
    return first
