"""When the beats of a stream move: the first frames as they are, the rest as these repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cycles = NDArray[np.int64]


THROUGH = 2
"""Cycles after which a beat can leave a FIFO that takes all beats and was empty."""


class SlowerError(Exception):
    """A layer takes frames more slowly than they arrive.

    Attributes:
        interval: Cycles that it takes from one to the next.
    """

    def __init__(self, interval: int) -> None:
        super().__init__(interval)
        self.interval = interval


@dataclass(frozen=True)
class Trace:
    """The cycles in which the beats of a stream move, without end.

    For example, two beats in a frame, in cycles 3 and 5 of the first, and 14 and 15 of the second, which repeats every 10
    cycles: `Trace(np.array([[3, 5], [14, 15]]), 1, 10)` goes on with 24 and 25.

    Attributes:
        frames: (frames, beats of one), ascending.
        repeated: How many of the last of these repeat.
        interval: Cycles from one frame to the next where they do.
    """

    frames: Cycles
    repeated: int
    interval: int

    @staticmethod
    def steady(beats: int, interval: int) -> Trace:
        """Return so many beats in an interval of cycles, evenly spread, as `Stalls.steady` lets them pass."""
        return Trace((np.arange(beats, dtype=np.int64) * interval // beats).reshape(1, -1), 1, interval)

    @property
    def beats(self) -> int:
        """Return how many beats a frame has."""
        return len(self.frames[0])

    @property
    def settled(self) -> int:
        """Return the first cycle from which on the beats come periodically."""
        first = len(self.frames) - self.repeated
        return 0 if not first else int(self.frames[first, 0])

    def later(self, cycles: int) -> Trace:
        """Return the same beats some cycles later."""
        return Trace(self.frames + cycles, self.repeated, self.interval)

    def between(self, first: int, end: int) -> Cycles:
        """Return the cycles of the beats from a number on that move before a cycle."""
        begin, known = first // self.beats, len(self.frames)
        last = int(self.frames[-1, 0])
        count = known + max(0, -(-(end - last) // self.interval)) + self.repeated
        if begin >= count:
            return np.empty(0, np.int64)
        numbers = np.arange(begin, count)
        turns = np.maximum(0, numbers - known + self.repeated) // self.repeated
        rows = self.frames[numbers - turns * self.repeated]
        times: Cycles = (rows + (turns * (self.repeated * self.interval))[:, None]).reshape(-1)
        return times[first % self.beats : np.searchsorted(times, end)]

    def shortest(self) -> Trace:
        """Return the same beats with as few frames as say all: a frame that is like the one before it is left out."""
        alike = (self.frames[1:] == self.frames[:-1] + self.interval).all(axis=1)
        different = np.flatnonzero(~alike)
        first = int(different[-1]) + 1 if len(different) else 0  # from this frame on all are alike
        if first > len(self.frames) - self.repeated:
            return self
        return Trace(self.frames[: first + 1], 1, self.interval)


@dataclass(frozen=True)
class LayerTiming:
    """What a layer does with its arrivals.

    Attributes:
        fills: The most beats that wait before it, by its inputs.
        given: When it gives beats, by its outputs.
        repeats: Whether its state returned, so that this holds for any number of frames.
        cycles: That were simulated.
    """

    fills: dict[str, int]
    given: dict[str, Trace]
    repeats: bool
    cycles: int


def most_waiting(arrived: Cycles, taken: Cycles) -> int:
    """Return how many beats a FIFO holds at most, after a cycle in which one may arrive and one may be taken.

    Args:
        arrived: The cycles in which beats go in, ascending.
        taken: The cycles in which they leave, ascending.
    """
    if not len(arrived):
        return 0
    waiting = np.arange(1, len(arrived) + 1) - np.searchsorted(taken, arrived, side="right")
    return int(waiting.max())
