"""What `page_memory.sv` needs of a part, and whether it is in LUTs or in block RAM."""

from __future__ import annotations

from brainsmith.rtl.cores.costs import block_words, chosen_luts, mapped_blocks, mapped_luts
from brainsmith.rtl.synthesis.cells import Resources

LUT_LIMIT = 128
"""A memory that would take more LUTs than this is in block RAM."""

SMALL, LARGE = 32, 64
"""Words that a LUT holds: of 2 bits or of 1 bit."""


def storage_luts(words: int, bits: int) -> int:
    """Return the LUTs that store, in groups of 8 with one for the address of writing (RAM32M16, RAM64M8)."""
    if words <= SMALL:
        return 8 * -(-bits // 14)
    return 8 * -(-bits // 7) * -(-words // LARGE)


def in_blocks(words: int, bits: int) -> bool:
    """Tell whether a memory is in block RAM."""
    return storage_luts(words, bits) > LUT_LIMIT


def page_memory_resources(words: int, bits: int, family: str, block: bool | None = None) -> Resources:
    """Return what a memory needs, with the register of what was read.

    Args:
        words: Of both pages.
        bits: Of a word.
        family: Of the part.
        block: Whether it is in block RAM; as `in_blocks` says if that is None.
    """
    if in_blocks(words, bits) if block is None else block:
        blocks = mapped_blocks(words, bits, family)
        parts = int(blocks.parts)
        held = (parts - 1).bit_length()  # which part was read
        return Resources(lut=_chosen(parts, bits), ff=held, bram18=int(blocks.bram18))
    cells = mapped_luts(words, bits, family)
    stored = int(cells.lut)
    return Resources(lut=stored + _chosen(int(cells.parts), bits), lutram=stored, ff=bits)


def banked_resources(words: int, bits: int, family: str) -> Resources:
    """Return what a memory needs of which each block RAM has a register, and what is chosen of these has one.

    Args:
        words: Of both pages; more than one block RAM has.
        bits: Of a word.
        family: Of the part.
    """
    bank = block_words(words, bits)
    whole, rest = divmod(words, bank)
    banks = whole + bool(rest)
    blocks = whole * int(mapped_blocks(bank, bits, family).bram18)
    if rest:
        blocks += int(mapped_blocks(rest, bits, family).bram18)
    ways = (
        2 * (banks - 1).bit_length()
    )  # from which one a word is that was fetched, and that is in a register
    return Resources(lut=_chosen(banks, bits), ff=(banks + 1) * bits + ways, bram18=blocks)


def _chosen(parts: int, bits: int) -> int:
    """Return the LUTs that choose what one of some parts of a memory holds, and which of them is written."""
    return chosen_luts(parts, bits) + (parts if parts > 1 else 0)
