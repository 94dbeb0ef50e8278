"""How many thresholds of its channel each value reaches: QONNX's MultiThreshold, and what FINN's layers end with.

Four ways, equal in every bit; which is the fastest, the lowering chooses. A level is how many thresholds are <= x; NaN
reaches none. The result is `scale * level + bias`.
"""

from __future__ import annotations

import numpy as np

from brainsmith.execution.program.functions.channels import by_channel
from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array


@instruction
def compare_each(x: Array, thresholds: Array, *, axis: int, scale: float, bias: float) -> Array:
    """Compare with one threshold after the other: for a few.

    Args:
        x: A stack.
        thresholds: (channels or 1, thresholds), in any order.
        axis: Of the channels, from the end.
        scale: Of the result.
        bias: Of the result.
    """
    kind = np.uint8 if thresholds.shape[1] < 1 << 8 else np.uint32

    def piece(part: Array, rows: Array, out: Array) -> None:
        level = np.zeros(part.shape, kind)
        reached = np.empty(part.shape, np.bool_)
        for row in rows:
            np.greater_equal(part, row, out=reached)
            np.add(level, reached, out=level)
        np.copyto(out, level)
        _scaled(out, scale, bias)

    return by_channel(piece, x, axis, (thresholds,))


@instruction
def look_up(x: Array, low: Array, high: Array, start: Array, table: Array, *, axis: int) -> Array:
    """Look whole numbers up in a table of results.

    Args:
        x: A stack of whole numbers.
        low: (channels or 1,): what x is clipped to, because beyond all levels are alike.
        high: Likewise.
        start: (channels or 1,): where in the table a channel's 0 is, or would be.
        table: The results.
        axis: Of the channels, from the end.
    """

    def piece(part: Array, low: Array, high: Array, start: Array, out: Array) -> None:
        place = np.minimum(part, high)
        np.maximum(place, low, out=place)
        np.add(place, start, out=place)
        np.take(table, place.astype(np.intp), out=out, mode="clip")

    return by_channel(piece, x, axis, (low, high, start))


@instruction
def look_up_bins(
    x: Array,
    origin: Array,
    density: Array,
    start: Array,
    levels: Array,
    edges: Array,
    *,
    axis: int,
    bins: int,
    scale: float,
    bias: float,
) -> Array:
    """Find the bin of a value, and compare it with the only threshold in there.

    A bin's number grows with the value (each rounded operation on the way does), so thresholds of lower bins are
    below a value and those of higher ones above it, whatever the rounding was.

    Args:
        x: A stack of any numbers.
        origin: (channels or 1,): where the first bin begins.
        density: (channels or 1,): bins per unit, more than 0.
        start: (channels or 1,): the place of a channel's first bin, float32.
        levels: Of all bins: how many thresholds are in lower ones.
        edges: Of all bins: the threshold in it, NaN if there is none.
        axis: Of the channels, from the end.
        bins: Of a channel.
        scale: Of the result.
        bias: Of the result.
    """

    def piece(part: Array, origin: Array, density: Array, start: Array, out: Array) -> None:
        place = bin_numbers(part, origin, density, bins)
        np.add(place, start, out=place)
        index = place.astype(np.intp)
        np.take(levels, index, out=out, mode="clip")
        np.take(edges, index, out=place, mode="clip")
        np.add(out, part >= place, out=out)
        _scaled(out, scale, bias)

    return by_channel(piece, x, axis, (origin, density, start))


def bin_numbers(x: Array, origin: Array, density: Array, bins: int) -> Array:
    """Return in which of a channel's bins values are, float32 with a fraction; NaN is in the first."""
    with np.errstate(all="ignore"):
        place = np.subtract(x, origin)
        np.multiply(place, density, out=place)
    np.fmax(place, 0, out=place)
    np.minimum(place, bins - 1, out=place)
    return np.floor(place, out=place)


@instruction
def search(x: Array, thresholds: Array, *, axis: int, scale: float, bias: float) -> Array:
    """Search each value among the sorted thresholds of its channel: for many that are unevenly spaced.

    Args:
        x: A stack.
        thresholds: (channels or 1, thresholds), ascending, NaN last.
        axis: Of the channels, from the end.
        scale: Of the result.
        bias: Of the result.
    """
    out = np.empty(x.shape, np.float32)
    values, wanted = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    if len(thresholds) == 1:
        values, wanted = values[None], wanted[None]
    for channel, row in enumerate(thresholds):
        wanted[channel] = np.searchsorted(row, values[channel], side="right")
    out[np.isnan(x)] = 0
    _scaled(out, scale, bias)
    return out


def _scaled(levels: Array, scale: float, bias: float) -> None:
    """Apply scale and bias in place, each with a rounding to float32, as QONNX does."""
    if scale != 1:
        np.multiply(levels, np.float32(scale), out=levels)
    if bias or scale < 0:
        np.add(levels, np.float32(bias), out=levels)
