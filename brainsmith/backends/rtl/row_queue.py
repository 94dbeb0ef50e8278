"""The queue in which beats wait (`row_queue.sv`), as a row's for its serial unit: how long it is, and what it needs."""

from __future__ import annotations

from brainsmith.backends.rtl.page_memory import in_blocks, page_memory_resources
from brainsmith.rtl.synthesis.cells import Resources

SPARE = 6
"""Beats that are in the pipeline between a queue and the unit that its row waits for, and back."""


def queue_depth(beats: int, serial_cycles: int) -> int:
    """Return the beats that wait while the serial unit works: a row's, and those that come meanwhile."""
    return beats + min(beats, serial_cycles) + SPARE


def queue_resources(depth: int, bits: int, family: str, block: bool | None = None) -> Resources:
    """Return what a queue needs: its memory, two places in it, a count, and a register behind block RAM.

    Args:
        depth: Beats in the memory.
        bits: Of a beat.
        family: Of the part.
        block: Whether it is in block RAM; as `in_blocks` says if that is None.
    """
    place = (depth - 1).bit_length()
    in_block = in_blocks(depth, bits) if block is None else block
    behind = bits + 1 if in_block else 0
    memory = page_memory_resources(depth, bits, family, in_block)
    return memory + Resources(lut=5 * place - 2, ff=3 * place + 3 + behind)


def places_for(until_free: int, interval: int) -> int:
    """Return how many places a queue with reserved ones must have, so that no result waits for one.

    Args:
        until_free: Cycles from when a result is begun until another one can take its place, if nothing waits.
        interval: Cycles from one result to the next.
    """
    return max(2, -(-until_free // interval))


def reserved_queue_resources(
    places: int, bits: int, family: str, *, kept: bool = False, block: bool = False
) -> Resources:
    """Return what a queue needs whose places are reserved (`reserved_queue.sv`): itself, and a count of free places.

    Args:
        places: Of results that are under way or wait.
        bits: Of a result.
        family: Of the part.
        kept: Whether a result stays in a register of the core until the next one comes: of two, one waits there.
        block: Whether they wait in block RAM.
    """
    count = places.bit_length()
    waiting = Resources(ff=bits + 2) if kept and places == 2 else queue_resources(places, bits, family, block)
    return waiting + Resources(lut=count + 3, ff=count + 1)
