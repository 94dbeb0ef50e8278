"""A window of a tensor as loops over beats, for cores that count their way through a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from brainsmith.backends.rtl.multiplier import LUT_INPUTS
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Sequence

HANDSHAKE = 3
"""LUTs of both handshakes, and of whether a beat moves."""


class Turns(NamedTuple):
    """One loop over beats: how many turns it has, and the first and the last one in the window."""

    size: int
    first: int
    last: int

    @property
    def whole(self) -> bool:
        """Tell whether all turns are in the window."""
        return self.last - self.first + 1 == self.size


def window_turns(
    shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int], lanes: int
) -> tuple[Turns, ...]:
    """Return the loops over the beats of a tensor, the outermost first, as few as say what the window is.

    Args:
        shape: Of the tensor.
        starts: Where the window begins, axis by axis.
        sizes: Of the window.
        lanes: Values of the last axis in a beat.
    """
    turns = [
        Turns(size, start, start + count - 1) for size, start, count in zip(shape, starts, sizes, strict=True)
    ]
    size, first, last = turns[-1]
    turns[-1] = Turns(size // lanes, first // lanes, (last + 1) // lanes - 1)
    merged: list[Turns] = []
    for loop in (loop for loop in turns if loop.size > 1):
        if loop.whole and (not merged or merged[-1].whole):
            size = loop.size * (merged.pop().size if merged else 1)
            loop = Turns(size, 0, size - 1)
        merged.append(loop)
    return tuple(merged[1:] if merged and merged[0].whole else merged)


def window_resources(turns: Sequence[Turns]) -> Resources:
    """Return what the loops need: counters, a comparison with the last turn of each, comparisons with the window.

    And the handshake, and for each loop that is not all in the window whether it is in it now. A comparison of a counter
    with constants is a LUT, two from 7 bits on, and none of a single bit. A counter begins again of itself if its turns are
    a power of two; else a LUT clears it.
    """
    bits = [(loop.size - 1).bit_length() for loop in turns]
    compared = [(one, loop) for one, loop in zip(bits, turns, strict=True) if one > 1]
    windows = sum(1 if one <= LUT_INPUTS else 2 for one, loop in compared if not loop.whole)
    cleared = sum(1 for loop in turns if loop.size.bit_count() > 1)
    parts = sum(not loop.whole for loop in turns)
    return Resources(lut=sum(bits) + len(compared) + windows + cleared + HANDSHAKE, ff=sum(bits) + parts)
