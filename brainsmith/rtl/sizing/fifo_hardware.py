"""How many beats FINN's FIFO holds for a depth, and which depths are the same hardware."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

LEAST = 5
"""What FINN's FIFO holds at least, whatever its depth: four stages of a shift register and one after them."""

DEEPEST = 1 << 18
"""The deepest FIFO of five bits or more whose timing `adjustable_fifo.sv` models, in beats."""

_REGISTERED = 257
"""Up to this depth the memory is one of LUTs, with one register after it."""

_BLOCK = 2028
"""Up to this depth it is block RAM, beyond it UltraRAM."""

_NARROW = 5
"""Beats of fewer bits are always held in LUTs."""

_QUEUE = 16


def is_modelled(depth: int, bits: int) -> bool:
    """Tell whether the adjustable FIFO is cycle for cycle FINN's: UltraRAM has a stage for each 8,192 beats."""
    return depth <= DEEPEST or bits < _NARROW


def held(depth: int, bits: int) -> int:
    """Return how many beats a FIFO holds: FINN's `fifo.sv` with RAM_STYLE "auto".

    Args:
        depth: As it is asked for, in beats: 2 or more.
        bits: Of a beat.
    """
    if depth <= _REGISTERED or bits < _NARROW:
        return max(depth, LEAST)
    ultra = depth > _BLOCK
    behind = _QUEUE + 1 if ultra else 1
    low = _log2(depth - behind)
    places = 1 << low
    if low > (12 if ultra else 9):
        # A second, smaller memory instead of one twice as large, wherever that is enough.
        rest = _log2(depth - behind - places // 2)
        if rest < low - 1:
            places = places // 2 + (1 << max(rest, 1))
    return places + (behind if ultra else 2)


def depth_of(beats: int, bits: int) -> int:
    """Return the depth of the smallest FIFO that holds some beats: the greatest one that is this same hardware."""
    return _greatest(_least(beats, max(beats, 2), bits), bits)


def next_smaller(depth: int, bits: int) -> int:
    """Return the depth of the next smaller FIFO, as `depth_of` gives it; 0 if there is none."""
    beats = held(depth, bits)
    if beats == LEAST:
        return 0
    return _greatest(_least(beats, depth, bits) - 1, bits)


def _least(beats: int, most: int, bits: int) -> int:
    """Return the least depth that holds some beats, up to one that does."""
    return 2 + bisect_left(range(2, most), beats, key=lambda depth: held(depth, bits))


def _greatest(depth: int, bits: int) -> int:
    """Return the greatest depth that gives the same hardware as another."""
    beats = held(depth, bits)
    deeper = range(depth, max(beats, depth) + 1)
    return depth - 1 + bisect_right(deeper, beats, key=lambda depth: held(depth, bits))


def _log2(value: int) -> int:
    """Return the number of bits that count up to below a value."""
    return (value - 1).bit_length()
