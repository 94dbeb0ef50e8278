"""What a target can promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """What a target promises of its results, and of how it can be used.

    Attributes:
        bit_exact: Tensors of whole numbers hold the values of the reference; a zero may have the other sign.
        cycle_accurate: It reports how many clock cycles the hardware takes.
        batch: Many samples in one call cost less than one by one.
        streaming: A sample may enter before the previous one has left.
        intermediates: `execute(..., keep=...)` returns tensors inside the model too.
        concurrent: Several threads may execute at once; without it the runtime lets one in at a time.
    """

    bit_exact: bool = False
    cycle_accurate: bool = False
    batch: bool = False
    streaming: bool = False
    intermediates: bool = False
    concurrent: bool = False
