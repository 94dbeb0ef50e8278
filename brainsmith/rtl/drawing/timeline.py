"""Time along x: which cycles a pixel stands for, how full it is, and where an axis has its ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Runs: TypeAlias = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Timeline:
    """A window of cycles on a width in pixels.

    Attributes:
        begin: The first cycle that is shown.
        end: The first that is not shown any more.
        width: Of the drawing, in pixels.
        detail: How many bins a pixel may have at most: what a reader sees who zooms in.
    """

    begin: int
    end: int
    width: int
    detail: int = 1

    @property
    def cycles(self) -> int:
        """How many cycles are shown."""
        return self.end - self.begin

    @property
    def bin(self) -> int:
        """The cycles that are drawn as one: whole ones, so that no bin looks fuller than its neighbour."""
        return -(-self.cycles // (self.width * self.detail))

    @property
    def bins(self) -> int:
        """How many bins there are; the last may be shorter than the others."""
        return -(-self.cycles // self.bin)

    def at(self, cycle: float) -> float:
        """Return the x of a cycle's begin."""
        return (cycle - self.begin) * self.width / self.cycles

    def shows(self, cycle: int) -> bool:
        """Tell whether a cycle is in the window."""
        return self.begin <= cycle < self.end

    def shares(self, runs: Runs) -> list[float]:
        """Return which share of each bin's cycles lies in runs of cycles [begin, end)."""
        counts = [0] * self.bins
        for run_begin, run_end in runs:
            first, last = max(run_begin, self.begin) - self.begin, min(run_end, self.end) - self.begin
            while first < last:
                place = first // self.bin
                stop = min(last, (place + 1) * self.bin)
                counts[place] += stop - first
                first = stop
        rest = self.cycles - (self.bins - 1) * self.bin
        return [count / (self.bin if i < self.bins - 1 else rest) for i, count in enumerate(counts)]

    def ticks(self) -> list[int]:
        """Return round cycles for an axis: about one for each 100 pixels."""
        wanted = max(1.0, self.cycles * 100 / self.width)
        power = 1
        while power * 10 <= wanted:
            power *= 10
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)
        return list(range(-(-self.begin // step) * step, self.end, step))

    def steps(self, shares: Sequence[float], base: float, height: int) -> str:
        """Return the path of an area of steps: as high as the share of each bin, on a base line.

        A share above zero is seen whatever its size.
        """
        levels = [max(2, round(height * share)) if share > 0 else 0 for share in shares]
        parts: list[str] = []
        level = 0
        for index, new in enumerate([*levels, 0]):
            if new == level:
                continue
            x = f"{self.at(min(self.begin + index * self.bin, self.end)):.2f}".rstrip("0").rstrip(".")
            if not level:
                parts.append(f"M{x} {base:g}V{base - new:g}")
            elif not new:
                parts.append(f"H{x}V{base:g}Z")
            else:
                parts.append(f"H{x}V{base - new:g}")
            level = new
        return "".join(parts)
