"""The base of RTL backends whose core joins streams to one, or splits one, each in its turn (`turns_in_order.sv`)."""

from __future__ import annotations

from math import gcd

import numpy as np

from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking


class TurnBackend(CoreBackend):
    """A core that works on vectors of streams; `ChannelsPerStream` says how many values each has of a vector."""

    parts = ("turns_in_order.sv",)
    joined = True

    def beats(self) -> list[int]:
        """Return how many beats each stream has in its turn."""
        return [count // self.get_nodeattr("SIMD") for count in self.get_nodeattr("ChannelsPerStream")]

    def beat_schedule(self) -> BeatSchedule:
        """Return that each beat passes in its turn, in the same cycle."""
        beats = self.beats()
        taken, given = self.frame_beats()
        turns = np.arange(max(*taken, *given))
        ends = np.cumsum(beats)
        place = turns % ends[-1]
        parts = [
            turns[(place >= end - count) & (place < end)] for end, count in zip(ends, beats, strict=True)
        ]
        joins = len(taken) > 1
        return BeatSchedule(
            len(turns),
            tuple(map(Taking, parts if joins else [turns])),
            tuple(Giving(part, 0) for part in ([turns] if joins else parts)),
        )

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, which divides the channels of every stream."""
        return (Parallelism("SIMD", divisors(gcd(*self.get_nodeattr("ChannelsPerStream")))),)
