"""What cores that work on rows have in common: queues of beats, adders, and how many lanes make them faster."""

from __future__ import annotations

from brainsmith.backends.rtl.page_memory import page_memory_resources
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.synthesis.cells import Resources

SPARE = 6
"""Beats that are in the pipeline between a queue and the unit that its row waits for, and back."""


def queue_depth(beats: int, serial_cycles: int) -> int:
    """Return the beats that wait while the serial unit works: a row's, and those that come meanwhile."""
    return beats + min(beats, serial_cycles) + SPARE


def row_parallelism(size: int, serial_cycles: int) -> tuple[Parallelism, ...]:
    """Return the lanes that make a row faster: up to the first with which it takes no longer than the serial unit."""
    values = []
    for lanes in divisors(size):
        values.append(lanes)
        if size // lanes <= serial_cycles:
            break
    return (Parallelism("SIMD", tuple(values)),)


def queue_resources(depth: int, bits: int) -> Resources:
    """Return what `row_queue.sv` needs: its memory, two places in it and a count."""
    place = (depth - 1).bit_length()
    return page_memory_resources(depth, bits) + Resources(lut=5 * place - 2, ff=3 * place + 1)
