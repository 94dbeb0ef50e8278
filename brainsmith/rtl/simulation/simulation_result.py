"""What a simulation gives: beats, the cycles in which they moved, and how often the ends stalled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from brainsmith.errors import SimulationError


PHASES = ("idle", "moved", "blocked", "starved")
"""What a stream does in a cycle, as the driver numbers it."""


@dataclass(frozen=True)
class Traffic:
    """What happened at one stream.

    Attributes:
        is_output: Whether the design gives its beats.
        words: One row of bytes per beat, the lowest first.
        moved_at: The cycle in which each beat moved; 0 is the first after the reset.
        stalled: Cycles in which the simulation's end did not offer a beat that it had, or take one that was offered.
        waited: Cycles in which the simulation's end was ready and the design was not.
        surplus: Cycles in which the design offered more beats than were asked for.
    """

    is_output: bool
    words: NDArray[np.uint8]
    moved_at: NDArray[np.uint64]
    stalled: int
    waited: int
    surplus: int

    def frames(self, count: int) -> list[tuple[int, int]]:
        """Return the cycles of the first and the last beat of each frame.

        Raises:
            ValueError: The beats are not so many equal frames.
        """
        if count < 1 or not len(self.moved_at) or len(self.moved_at) % count:
            raise ValueError(f"{len(self.moved_at)} beats are not {count} equal frames")
        return [(int(row[0]), int(row[-1])) for row in self.moved_at.reshape(count, -1)]


@dataclass(frozen=True)
class Watched:
    """What was seen at a stream inside of the design, from the end of the reset to the last beat of the run.

    Attributes:
        words: One row of bytes per beat that moved, the lowest first; no more than there was room for.
        moved_at: The cycle in which each of these moved.
        moved: How many beats moved.
        blocked: Cycles with a beat that was not taken (valid, not ready).
        starved: Cycles in which one would have been taken and was not there (ready, not valid).
        phase: `idle`, `moved`, `blocked` or `starved`: the last cycle.
        phases: That of each cycle of the run's window, as its place in `PHASES`.
    """

    words: NDArray[np.uint8]
    moved_at: NDArray[np.uint64]
    moved: int
    blocked: int
    starved: int
    phase: str
    phases: NDArray[np.uint8]


@dataclass(frozen=True)
class SimulationResult:
    """What a simulation gave.

    Attributes:
        cycles: How many it took, from the end of the reset to the last beat.
        seconds: The time that they took.
        streams: What happened at each stream.
        values: The design's other outputs of up to 64 bits, such as the fill of a FIFO, at the end.
        messages: What the design printed.
        watched: What was seen at the streams that were watched.
        outcome: `complete`; `limit` if the run was given up, `fault` if the design reported an error.
        problem: Why the result cannot be trusted, where the run was not asked to raise that.
    """

    cycles: int
    seconds: float
    streams: Mapping[str, Traffic]
    values: Mapping[str, int]
    messages: str
    watched: Mapping[str, Watched] = field(default_factory=dict)
    outcome: Literal["complete", "limit", "fault"] = "complete"
    problem: SimulationError | None = None

    @property
    def cycles_per_second(self) -> float:
        """How fast it was."""
        return self.cycles / self.seconds if self.seconds else 0.0

    def stalled_share(self, name: str) -> float:
        """Return the share of all cycles in which the simulation's end of a stream stalled."""
        return self.streams[name].stalled / self.cycles if self.cycles else 0.0
