"""What parts of a core cost, where the width alone does not say it: formulas that cores' estimates share."""

from __future__ import annotations

from functools import lru_cache

from brainsmith.rtl.resource_models.memories import (
    BLOCK,
    DISTRIBUTED,
    ROM,
    TWO_PORTS,
    MemoryCells,
    mapped_memory,
)

_BLOCK_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
"""Words and bits that a block RAM of 18 Kbit can be (AMD UG573); 36 bits only where one port reads and one writes."""


@lru_cache(maxsize=4096)
def mapped_blocks(words: int, bits: int, family: str, *, written: bool = True) -> MemoryCells:
    """Return the block RAMs that Yosys takes for a memory, and into how many parts it cuts it by its addresses.

    Args:
        words: That it has.
        bits: Of a word.
        family: Of the part, such as `xcup`.
        written: Whether anything writes it; parts of a table share block RAMs in other ways.
    """
    return mapped_memory(words, bits, TWO_PORTS if written else ROM, BLOCK, family)


@lru_cache(maxsize=4096)
def mapped_luts(words: int, bits: int, family: str) -> MemoryCells:
    """Return the LUTs that Yosys takes for a memory with a port to write and one to read, and its parts.

    Args:
        words: That it has.
        bits: Of a word.
        family: Of the part.
    """
    return mapped_memory(words, bits, TWO_PORTS, DISTRIBUTED, family)


def block_words(words: int, bits: int) -> int:
    """Return how many words a block RAM has, a power of two, of the shape of which the fewest hold a memory."""
    parts = ((-(-words // depth), -(-bits // width), depth) for depth, width in _BLOCK_SHAPES)
    return min((deep * wide, deep, depth) for deep, wide, depth in parts)[2]


def chosen_luts(parts: int, bits: int) -> int:
    """Return the LUTs that choose what one of some parts of a memory holds."""
    return bits * -(-(parts - 1) // 3)


def comparator_luts(bits: int) -> int:
    """Return the LUTs that compare two numbers: each takes two bits of both, and a few more combine their results."""
    if bits <= 2:
        return 1
    return 4 if bits <= 4 else -(-bits // 2) + 2 * -(-bits // 16) + 1
