"""The queue in which a row's beats wait for its serial unit (`row_queue.sv`): how long it is, and what it needs."""

from __future__ import annotations

from brainsmith.backends.rtl.page_memory import in_blocks, page_memory_resources
from brainsmith.rtl.synthesis.cells import Resources

SPARE = 6
"""Beats that are in the pipeline between a queue and the unit that its row waits for, and back."""


def queue_depth(beats: int, serial_cycles: int) -> int:
    """Return the beats that wait while the serial unit works: a row's, and those that come meanwhile."""
    return beats + min(beats, serial_cycles) + SPARE


def queue_resources(depth: int, bits: int) -> Resources:
    """Return what a queue needs: its memory, two places in it, a count, and a register behind block RAM."""
    place = (depth - 1).bit_length()
    behind = Resources(ff=bits + 1) if in_blocks(depth, bits) else Resources()
    return page_memory_resources(depth, bits) + behind + Resources(lut=5 * place - 2, ff=3 * place + 3)
