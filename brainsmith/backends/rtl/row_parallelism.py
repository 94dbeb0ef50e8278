"""What cores that work on rows have in common: queues of beats, and how many lanes make them faster."""

from __future__ import annotations

from brainsmith.rtl.cores.parallelism import Parallelism, divisors

SPARE = 6
"""Beats that are in the pipeline between a queue and the unit that its row waits for, and back."""

BLOCK_FROM = 129
"""From this depth on a queue is block RAM: two rows of LUTs would be needed for less."""


def queue_depth(beats: int, serial_cycles: int) -> int:
    """Return the beats that wait while the serial unit works: a row's, and those that come meanwhile."""
    return beats + min(beats, serial_cycles) + SPARE


def queue_is_block(depth: int) -> bool:
    """Tell whether a queue is made of block RAM."""
    return depth >= BLOCK_FROM


def row_parallelism(size: int, serial_cycles: int) -> tuple[Parallelism, ...]:
    """Return the lanes that make a row faster: up to the first with which it takes no longer than the serial unit."""
    values = []
    for lanes in divisors(size):
        values.append(lanes)
        if size // lanes <= serial_cycles:
            break
    return (Parallelism("SIMD", tuple(values)),)
