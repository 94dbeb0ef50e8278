"""The base of RTL backends whose core joins streams to one, or splits one, each in its turn (`turns_in_order.sv`)."""

from __future__ import annotations

from math import gcd

from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.parallelism import Parallelism, divisors


class TurnBackend(CoreBackend):
    """A core that works on vectors of streams; `ChannelsPerStream` says how many values each has of a vector."""

    parts = ("turns_in_order.sv",)
    joined = True

    def beats(self) -> list[int]:
        """Return how many beats each stream has in its turn."""
        return [count // self.get_nodeattr("SIMD") for count in self.get_nodeattr("ChannelsPerStream")]

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, which divides the channels of every stream."""
        return (Parallelism("SIMD", divisors(gcd(*self.get_nodeattr("ChannelsPerStream")))),)
