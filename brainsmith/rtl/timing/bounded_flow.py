"""Whether layers keep a rate with FIFOs of given sizes, told by their schedules, without a simulation.

In a steady stream of frames the cycle of each beat is bounded by those of others, always in the same way: it moves so
many cycles after that one, of its frame or of one so many frames before. There is such a stream if all bounds can be met
at once. So what is too early is made later, layer by layer, and again those around it that see the difference, until
nothing changes. If that has no end, frames come later and later with these FIFOs. Then all beats of some link, usually at
the slowest layer, become later each time; after a few times they are taken to do so for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.sizing.composition import in_order
from brainsmith.rtl.sizing.traces import THROUGH
from brainsmith.rtl.stitching.design import DESIGN
from brainsmith.rtl.timing.bounds import Bounds, before_it, one_a_cycle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.rtl.sizing.traces import Cycles, Trace
    from brainsmith.rtl.stitching.design import Link
    from brainsmith.rtl.timing.beat_schedule import BeatSchedule

_SWEEPS = 200
"""After which nothing changes any more, if the rate is kept."""

_RISING = 6
"""Sweeps in a row in which all beats of a link became later, if they do so for ever."""


@dataclass(frozen=True)
class _Stream:
    """A steady stream, by its frame of number 0; no array is ever changed.

    Attributes:
        put: When beats go into the FIFO of each link, by name.
        left: When they leave it.
        turns: When those turns of each layer are that matter, by name.
    """

    put: dict[str, Cycles]
    left: dict[str, Cycles]
    turns: dict[str, Cycles]

    def copy(self) -> _Stream:
        """Return the same, to go on from."""
        return _Stream(dict(self.put), dict(self.left), dict(self.turns))


class BoundedFlow:
    """Layers with FIFOs between them, at a rate.

    Args:
        links: Between the layers, and from and to the design.
        schedules: By the names of layers.
        given: When beats go into each FIFO if nothing ever waits for a place, by the names of links.
        taken: When they leave it.
        interval: Cycles from one frame to the next.
    """

    def __init__(
        self,
        links: Sequence[Link],
        schedules: Mapping[str, BeatSchedule],
        given: Mapping[str, Trace],
        taken: Mapping[str, Trace],
        interval: int,
    ) -> None:
        self._links = links
        self._interval = interval
        self._layers = {
            name: (before, behind, Bounds(schedules[name], interval))
            for name, before, behind in in_order(links, list(schedules))
        }
        self._kept = _Stream(
            {name: _frame(trace) for name, trace in given.items()},
            {name: _frame(trace) for name, trace in taken.items()},
            {name: bounds.first for name, (_, _, bounds) in self._layers.items()},
        )
        self._places: dict[str, int] = {}

    def keeps_rate(self, places: dict[str, int]) -> bool:
        """Tell whether there is a steady stream at the rate.

        Args:
            places: How many beats each FIFO holds, by the names of links: none more than in the last call that was answered
                with yes, from whose stream this one goes on.
        """
        fewer = {name for name, count in places.items() if count != self._places.get(name)}
        stream = self._kept.copy()
        if not self._settles(stream, places, fewer):
            return False
        self._kept, self._places = stream, places
        return True

    def _settles(self, stream: _Stream, places: Mapping[str, int], fewer: set[str]) -> bool:
        """Make beats as late as their bounds say; tell whether that ends."""
        again = {link.source.layer for link in self._links if link.name in fewer}
        if not self._places:
            again |= {DESIGN, *self._layers}
        # What is behind the shorter FIFOs sees no difference unless what is before them cannot make up for it.
        places_of = {name: at for at, name in enumerate((DESIGN, *self._layers))}
        last = max((places_of[link.target.layer] for link in self._links if link.name in fewer), default=0)
        rising = dict.fromkeys(stream.put, 0)
        for _ in range(_SWEEPS):
            if not any(places_of[name] <= last for name in again):
                last = len(self._layers)
            if not again:
                return True
            near, before = list(places_of)[: last + 1], dict(stream.put)
            for name in (*reversed(near), *near):
                if name in again:
                    again.discard(name)
                    again |= (
                        self._ends(stream, places) if name == DESIGN else self._layer(name, stream, places)
                    )
            for name, put in stream.put.items():
                later = put is not before[name] and bool((put > before[name]).all())
                rising[name] = rising[name] + 1 if later else 0
            if max(rising.values()) >= _RISING:
                return False
        return False

    def _layer(self, name: str, stream: _Stream, places: Mapping[str, int]) -> set[str]:
        """Make a layer as late as its bounds say; return the layers that see a difference."""
        before, behind, bounds = self._layers[name]
        free = [before_it(stream.left[link.name], places[link.name], self._interval) + 1 for link in behind]
        turns, left, put, settled = bounds.meet(
            stream.turns[name],
            [stream.left[link.name] for link in before],
            [stream.put[link.name] for link in behind],
            arrived=[stream.put[link.name] + THROUGH for link in before],
            free=free,
        )
        stream.turns[name] = turns
        again = _changed(stream.left, before, left, [link.source.layer for link in before])
        again |= _changed(stream.put, behind, put, [link.target.layer for link in behind])
        return again if settled else again | {name}

    def _ends(self, stream: _Stream, places: Mapping[str, int]) -> set[str]:
        """Let the design's inputs come as soon as there is a place, and its outputs be taken at once."""
        first = [link for link in self._links if link.source.layer == DESIGN]
        last = [link for link in self._links if link.target.layer == DESIGN]
        put = [
            one_a_cycle(
                np.maximum(
                    stream.put[link.name],
                    before_it(stream.left[link.name], places[link.name], self._interval) + 1,
                ),
                self._interval,
            )
            for link in first
        ]
        left = [np.maximum(stream.left[link.name], stream.put[link.name] + THROUGH) for link in last]
        again = _changed(stream.put, first, put, [link.target.layer for link in first])
        return again | _changed(stream.left, last, left, [link.source.layer for link in last])


def _changed(
    known: dict[str, Cycles], links: Sequence[Link], found: Sequence[Cycles], seen_by: Sequence[str]
) -> set[str]:
    """Note cycles that are new; return who sees them."""
    seen: set[str] = set()
    for link, cycles, layer in zip(links, found, seen_by, strict=True):
        if not np.array_equal(cycles, known[link.name]):
            known[link.name] = cycles
            seen.add(layer)
    return seen


def _frame(trace: Trace) -> Cycles:
    """Return the last frame of a trace as that of number 0: of what is made later, any beginning will do."""
    first: Cycles = trace.frames[-1] - (len(trace.frames) - 1) * trace.interval
    return first
