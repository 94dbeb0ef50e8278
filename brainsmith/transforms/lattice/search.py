"""Find where a staircase steps up, by bisection through the very operators that compute it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.transforms.lattice.array_kinds import Singles, Whole

    Levels = Whole | Singles

FLOAT_END = int(np.float32(2.0**64).view(np.int32))
"""The number of the float up to which inputs without a known range are followed."""

_FEW = 3
"""With so few levels, bisection alone is faster."""


def float_of(numbers: Whole) -> Singles:
    """Return the floats of some numbers: 0 is 0.0, 1 the least float above it, -1 the greatest one below."""
    bits = np.abs(numbers).astype(np.int32)
    sizes = bits.view(np.float32)
    return np.where(numbers < 0, -sizes, sizes)


def find_steps(
    levels: Callable[[Whole], Levels], wanted: Levels, low: Whole, high: Whole, channels: int
) -> Whole:
    """Find, by bisection, the least number of each channel with which each wanted level is reached.

    Args:
        levels: Of numbers (channels, any); they must not fall where the numbers rise.
        wanted: Levels, of all channels (levels,) or of each (channels or 1, levels).
        low: The least number, of each channel or of all.
        high: The greatest.
        channels: How many there are.

    Returns:
        (channels, levels); `high + 1` where no number reaches a level.
    """
    ends = [np.broadcast_to(end, (channels,)).astype(np.int64)[:, None] for end in (low, high)]
    below, reached = _between_points(levels, wanted, *ends)
    while (open_ := reached - below > 1).any():
        middle = np.where(open_, (below + reached) // 2, np.clip(below, *ends))
        enough = levels(middle) >= wanted
        reached = np.where(open_ & enough, middle, reached)
        below = np.where(open_ & ~enough, middle, below)
    return reached


def _between_points(
    levels: Callable[[Whole], Levels], wanted: Levels, low: Whole, high: Whole
) -> tuple[Whole, Whole]:
    """Return, of each level, the last of some spread numbers below it, and the first with which it is reached.

    As many numbers as there are levels are computed at once, which costs as much as one bisection and spares several.
    """
    count = wanted.shape[-1]
    points = np.linspace(low[:, 0], high[:, 0], count if count > _FEW else 0, axis=1).astype(np.int64)
    points = np.clip(points, low, high)
    found = np.broadcast_to(levels(points), points.shape) if points.size else points
    if found.dtype.kind != "i":
        points = found = points[:, :0]
    each = np.broadcast_to(wanted, (len(found), count))
    places = np.stack([np.searchsorted(*pair) for pair in zip(found, each, strict=True)])
    spread = np.concatenate([low - 1, points, high + 1], axis=1)
    return np.take_along_axis(spread, places, axis=1), np.take_along_axis(spread, places + 1, axis=1)
