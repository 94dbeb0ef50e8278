"""What parts of a core cost, where the width alone does not say it: formulas that cores' estimates share."""

from __future__ import annotations

_BLOCK_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
"""Words and bits that a block RAM of 18 Kbit can be (AMD UG573); 36 bits only where one port reads and one writes."""


def block_rams(words: int, bits: int) -> int:
    """Return how many block RAMs of 18 Kbit a memory takes, all of one shape."""
    return _blocks(words, bits)[0]


def block_parts(words: int, bits: int) -> int:
    """Return how many of these block RAMs hold one bit of different words, so that one of them is chosen at each read."""
    return _blocks(words, bits)[1]


def block_words(words: int, bits: int) -> int:
    """Return how many words one of these block RAMs has, a power of two."""
    return _blocks(words, bits)[2]


def _blocks(words: int, bits: int) -> tuple[int, int, int]:
    parts = ((-(-words // depth), -(-bits // width), depth) for depth, width in _BLOCK_SHAPES)
    return min((deep * wide, deep, depth) for deep, wide, depth in parts)


def comparator_luts(bits: int) -> int:
    """Return the LUTs that compare two numbers: each takes two bits of both, and a few more combine their results."""
    if bits <= 2:
        return 1
    return 4 if bits <= 4 else -(-bits // 2) + 2 * -(-bits // 16) + 1
