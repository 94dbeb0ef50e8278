"""How long simulating one frame of a whole design takes: predicted, before it is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.progress import elapsed

if TYPE_CHECKING:
    from brainsmith.rtl.stitching.design import Design

SPEED = 4_000_000
"""Cycles per second of a design of one instance, where nothing was measured; of n instances it is the n-th part. The full
CNV 2W2A is the slowest that was measured: 73,000 with about 60."""


@dataclass(frozen=True)
class FrameTime:
    """A prediction.

    Attributes:
        cycles: Of a frame: measured where an earlier simulation of the design did, or the estimates of all layers, one
            after the other, which is more than a frame takes.
        cycles_per_second: How fast the design is simulated.
        measured: Whether an earlier simulation measured that speed.
    """

    cycles: int
    cycles_per_second: float
    measured: bool

    @property
    def seconds(self) -> float:
        """Return how long a frame takes."""
        return self.cycles / self.cycles_per_second

    def __str__(self) -> str:
        how = "measured" if self.measured else "assumed"
        cycles, speed = plural(self.cycles, "cycle"), f"{self.cycles_per_second:,.0f} a second"
        return f"about {elapsed(self.seconds)} ({cycles}, {speed}, {how})"


def predict(design: Design, latency: int | None = None, cycles_per_second: float | None = None) -> FrameTime:
    """Predict how long simulating a frame takes.

    Args:
        design: What is simulated.
        latency: Cycles of a frame, as an earlier simulation measured them.
        cycles_per_second: Likewise.
    """
    speed = cycles_per_second or SPEED / len(design.layers)
    return FrameTime(latency or design.latency, speed, bool(cycles_per_second))
