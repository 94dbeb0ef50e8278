"""Layers one after the other, each with the arrivals that those before it give: how full FIFOs without bounds become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from brainsmith.rtl.sizing.fifo_hardware import depth_of
from brainsmith.rtl.sizing.traces import THROUGH, Trace, most_waiting
from brainsmith.rtl.stitching.design import DESIGN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from brainsmith.rtl.sizing.traces import LayerTiming
    from brainsmith.rtl.stitching.design import Link


class TimesLayer(Protocol):
    """What tells when a layer takes and gives beats; links stand for its ends."""

    def __call__(
        self, name: str, arrivals: Mapping[str, Trace], given: Mapping[str, int], interval: int, /
    ) -> LayerTiming:
        """Return the timing of a layer.

        Args:
            name: Of the layer.
            arrivals: When beats go into the FIFOs before it, by link.
            given: How many beats a frame has, by link behind it.
            interval: Cycles from one frame to the next.

        Raises:
            SlowerError: More and more beats would wait.
        """


@dataclass(frozen=True)
class Composed:
    """What layers do together while frames come in at a rate.

    Attributes:
        fills: The most beats in each FIFO, by the names of links.
        latency: Cycles of the first frame.
    """

    fills: dict[str, int]
    latency: int


def compose(links: Sequence[Link], layers: Sequence[str], interval: int, time: TimesLayer) -> Composed:
    """Time each layer when all that it takes is known; nothing stalls what leaves the design.

    Args:
        links: Between the layers and from and to the design; those of weights do not count.
        layers: Which to time, by name.
        interval: Cycles from one frame to the next; the beats of each input are evenly spread over it.
        time: Tells when a layer takes and gives beats.

    Raises:
        SlowerError: A layer is slower than the interval.
    """
    carrying = [link for link in links if link.layout]
    arrivals = {
        link.name: Trace.steady(link.beats, interval) for link in carrying if link.source.layer == DESIGN
    }
    fills: dict[str, int] = {}
    latency = 0
    for name, before, behind in in_order(carrying, layers):
        taken = {link.name: arrivals.pop(link.name) for link in before}
        timing = time(name, taken, {link.name: link.beats for link in behind}, interval)
        fills |= timing.fills
        arrivals |= timing.given
        for link in behind:
            if link.target.layer == DESIGN:
                trace = arrivals.pop(link.name)
                times = trace.between(0, int(trace.frames[-1, -1]) + THROUGH + 1)
                fills[link.name] = most_waiting(times, times + THROUGH)
                latency = max(latency, int(times[link.beats - 1]) + THROUGH + 1)
    return Composed({link.name: fills[link.name] for link in carrying}, latency)


def in_order(links: Sequence[Link], layers: Sequence[str]) -> Iterator[tuple[str, list[Link], list[Link]]]:
    """Yield layers, each after those that feed it, with the links before and behind it."""
    before: dict[str, list[Link]] = {name: [] for name in layers}
    behind: dict[str, list[Link]] = {name: [] for name in layers}
    for link in links:
        if link.target.layer in before:
            before[link.target.layer].append(link)
        if link.source.layer in behind:
            behind[link.source.layer].append(link)
    waiting, done = list(layers), {DESIGN}
    while waiting:
        name = next(one for one in waiting if all(link.source.layer in done for link in before[one]))
        waiting.remove(name)
        done.add(name)
        yield name, before[name], behind[name]


def gauged_depths(fills: Mapping[str, int], bits: Mapping[str, int]) -> dict[str, int]:
    """Return the depths of the smallest FIFOs that never stall a beat, by the names of links.

    They hold one beat more than was in them: a FIFO that waits for its output register is full with one place left.

    Args:
        fills: The most beats in each.
        bits: Of a beat.
    """
    return {name: depth_of(fill + 1, bits[name]) for name, fill in fills.items()}
