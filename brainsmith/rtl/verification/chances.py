"""How often the ends of a stream must stall, so that they do so in a given share of all cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.rtl.simulation.stalls import Stalls

if TYPE_CHECKING:
    from brainsmith.rtl.stitching.design import Design

SHARE = 0.2
"""Of all cycles, in which each end of a design should stall."""

LEAST_SHARE = 0.1
"""With less a run shows too little."""


def stall_chance(beats: int, interval: int, share: float = SHARE, more: float = 1.0) -> float:
    """Return the chance of a stall per cycle with which a stream stalls in a share of all cycles.

    Before each beat the end stalls for x = p / (1 - p) cycles on average. A stream with room between its beats
    (beats per frame, interval in cycles) stalls in beats * x / interval of the cycles, one without in
    x / (1 + x).

    Args:
        beats: Of a frame.
        interval: Cycles from one frame to the next.
        share: Below 1.
        more: How many times as long as that the stream stalls.
    """
    wait = more * max(share * interval / beats, share / (1 - share))
    return wait / (1 + wait)


def random_stalls(design: Design, seed: int, more: float = 1.0) -> dict[str, Stalls]:
    """Return random stalls at all inputs and outputs of a design.

    Args:
        design: Says how many beats a frame has, and how long it takes.
        seed: Each stream gets another one that follows from it.
        more: How many times as long as the estimate says streams stall.
    """
    stalls = {}
    for at, stream in enumerate((*design.inputs, *design.outputs)):
        chance = stall_chance(stream.layout.beats, design.interval, more=more)
        stalls[stream.name] = Stalls.random(1000 * seed + at, chance)
    return stalls
