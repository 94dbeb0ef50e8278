"""Streams of which each has its turn: joined to one, or split of one (`turns_in_order.sv`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD = 32
"""Bits of each number in a parameter that holds one for each stream."""

FOUR = 4
"""Inputs of which a LUT chooses one."""


def packed(numbers: Sequence[int]) -> int:
    """Return a parameter that holds a number for each stream, the first in the lowest 32 bits."""
    return sum(int(number) << WORD * at for at, number in enumerate(numbers))


def turn_resources(beats: Sequence[int]) -> Resources:
    """Return what the turns need: the turn and the beats that are left in it, which are counted and loaded.

    Args:
        beats: Of each turn; where all are equal, loading needs no LUTs of its own. Where the number of turns is a power
            of two, the turn begins again of itself, else it is cleared.
    """
    turn, left = (len(beats) - 1).bit_length(), (max(2, *beats) - 1).bit_length()
    loaded = left if len(set(beats)) > 1 else 0
    cleared = turn if len(beats).bit_count() > 1 else 0
    return Resources(lut=2 * turn + cleared + left + loaded + 4, ff=turn + left)


def multiplexer_luts(count: int) -> float:
    """Return the LUTs of one bit that is chosen of several: one for up to 4, else midway between two circuits.

    A tree has a LUT for each 4 inputs, and again for what these choose. With decoded selects there is one for each pair
    of inputs. Yosys finds what is between the two.
    """
    if count <= FOUR:
        return float(count > 1)
    return (_tree(count) + count // 2) / 2


def _tree(count: int) -> int:
    fours = -(-count // FOUR)
    return fours + _tree(fours) if count > 1 else 0
