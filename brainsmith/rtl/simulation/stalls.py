"""When the ends of a stream stall: patterns, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Stalls:
    """In which cycles a driver offers no beat (at an input) or takes none (at an output).

    A beat that was offered stays offered until it is taken, as AXI-Stream demands.

    Attributes:
        kind: `none`, `random` or `pattern`.
        seed: Of the random numbers.
        probability: That a cycle stalls, where it is random.
        bits: One per cycle, repeated for ever; true stalls.
    """

    kind: Literal["none", "random", "pattern"] = "none"
    seed: int = 0
    probability: float = 0.0
    bits: tuple[bool, ...] = ()

    @staticmethod
    def random(seed: int, probability: float) -> Stalls:
        """Stall in each cycle with a probability of 0 or more, below 1."""
        if not 0 <= probability < 1:
            raise ValueError(f"probability must be 0 or more and below 1, not {probability!r}")
        return Stalls("random", seed, probability)

    @staticmethod
    def steady(beats: int, interval: int) -> Stalls:
        """Let so many beats pass in an interval of cycles, evenly spread; never stall if there is no room between them."""
        go = {at * interval // beats for at in range(beats)}
        return Stalls.pattern(at not in go for at in range(interval))

    @staticmethod
    def pattern(bits: Iterable[bool | int]) -> Stalls:
        """Stall where a bit is set; the bits are repeated for ever."""
        chosen = tuple(bool(bit) for bit in bits)
        if all(chosen):
            raise ValueError("bits must have a 0 in them, or no beat would ever pass")
        return Stalls("pattern", bits=chosen)

    @property
    def share(self) -> float:
        """The share of cycles that stall."""
        return self.probability if self.kind != "pattern" else sum(self.bits) / len(self.bits)
