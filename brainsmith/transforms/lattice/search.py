"""Find where a staircase steps up, by bisection through the very operators that compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Whole: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Singles: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

FLOAT_END = int(np.float32(2.0**64).view(np.int32))
"""The number of the float up to which inputs without a known range are followed."""


def float_of(numbers: Whole) -> Singles:
    """Return the floats of some numbers: 0 is 0.0, 1 the least float above it, -1 the greatest one below."""
    bits = np.abs(numbers).astype(np.int32)
    sizes = bits.view(np.float32)
    return np.where(numbers < 0, -sizes, sizes)


@dataclass(frozen=True)
class Steps:
    """Where each level is first reached, going up through numbers from `low` to `high`.

    Attributes:
        first: (channels, levels), the least number that has the level or a higher one; `high + 1` where none has.
        low: (channels or 1,), the least number.
        high: (channels or 1,), the greatest.
    """

    first: Whole
    low: Whole
    high: Whole


def find_steps(
    levels: Callable[[Whole], Whole], wanted: Whole, low: Whole, high: Whole, channels: int
) -> Steps:
    """Find the least number of each channel with which each wanted level is reached.

    Args:
        levels: Of numbers (channels, any); they must not fall where the numbers rise.
        wanted: Levels, rising.
        low: The least number, of each channel or of all.
        high: The greatest.
        channels: How many there are.
    """
    ends = [np.broadcast_to(end, (channels,)).astype(np.int64)[:, None] for end in (low, high)]
    below = np.repeat(ends[0] - 1, len(wanted), axis=1)
    reached = np.repeat(ends[1] + 1, len(wanted), axis=1)
    while (open_ := reached - below > 1).any():
        middle = np.where(open_, (below + reached) // 2, np.clip(below, *ends))
        enough = levels(middle) >= wanted[None, :]
        reached = np.where(open_ & enough, middle, reached)
        below = np.where(open_ & ~enough, middle, below)
    return Steps(reached, low, high)
