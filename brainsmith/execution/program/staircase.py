"""Which way of counting thresholds is the fastest; all give the same bits (program/functions/thresholds.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.program.functions import thresholds as ways
from brainsmith.execution.program.functions.thresholds import bin_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.operators.thresholds import Threshold
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.integer_range import Span


FEW = 6
"""Thresholds that are compared one by one faster than a level is looked up."""

SOME = 12
"""Thresholds that are compared one by one faster than a bin is found."""

MANY = 100
"""Thresholds from which on searching is faster than comparing with each."""

TABLE = 1 << 20
"""Entries of a table of levels, or of bins, at most."""

NEAR = 1 << 18
"""Entries of a table that a cache holds; from a greater one, levels are only taken where there are many."""

EXACT = 1 << 23
"""Whole numbers whose sums of two float32 holds."""


def emit_staircase(
    node: ProgramNode, source: str, threshold: Threshold, outputs: Sequence[str] | None
) -> str:
    """Emit what thresholds make of a tensor, and prove its span.

    Args:
        node: To emit for.
        source: Name of the tensor.
        threshold: What is computed.
        outputs: As for `emit`.
    """
    rows, scale, bias = threshold.rows, threshold.scale, threshold.bias
    count = rows.shape[1]
    span = node.span(source)
    made = None
    wide = rows.dtype == np.float64  # tables and bins are counted in float32
    if count > FEW and span is not None and not wide:
        made = _looked_up(node, source, threshold, span, outputs)
    if made is None and count > SOME and not wide:
        made = _binned(node, source, threshold, outputs)
    if made is None:
        way = ways.search if count > (SOME if wide else MANY) else ways.compare_each
        made = node.emit(way, [source, node.hold(rows)], outputs, axis=threshold.axis, scale=scale, bias=bias)
    if scale.is_integer() and bias.is_integer():
        low, high = sorted((bias, scale * count + bias))
        node.prove(made, low, high, (count, low, high) == (1, -1, 1))
    return made


def _looked_up(
    node: ProgramNode, source: str, threshold: Threshold, span: Span, outputs: Sequence[str] | None
) -> str | None:
    """Emit a table of the levels of whole numbers, from below the first threshold to the last; None if too long."""
    rows = threshold.rows
    finite = np.where(np.isfinite(rows), rows, np.nan).astype(np.float64)
    filled = np.isfinite(rows).any(axis=1)
    low, high = np.zeros(len(rows)), np.zeros(len(rows))
    low[filled] = np.ceil(np.nanmin(finite[filled], axis=1)) - 1
    high[filled] = np.ceil(np.nanmax(finite[filled], axis=1))
    low, high = np.clip(low, *span), np.clip(high, *span)
    sizes = (high - low + 1).astype(np.int64)
    if (
        sizes.sum() > (TABLE if rows.shape[1] > MANY else NEAR)
        or max(np.abs(low).max(), np.abs(high).max()) > EXACT
    ):
        return None
    levels = np.concatenate(
        [
            np.searchsorted(row, np.arange(first, last + 1).astype(np.float32), side="right")
            for row, first, last in zip(rows, low, high, strict=True)
        ]
    )
    table = np.float32(threshold.scale) * levels.astype(np.float32) + np.float32(threshold.bias)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]]) - low
    held = [node.hold(column.astype(np.float32)) for column in (low, high, start)]
    return node.emit(ways.look_up, [source, *held, node.hold(table)], outputs, axis=threshold.axis)


def _binned(
    node: ProgramNode, source: str, threshold: Threshold, outputs: Sequence[str] | None
) -> str | None:
    """Emit bins that hold one threshold each at most; None if there would be too many."""
    rows = threshold.rows
    gaps = np.diff(rows.astype(np.float64), axis=1)
    if not np.isfinite(rows).all() or gaps.min() <= 0:
        return None
    narrow = gaps.min(axis=1)
    bins = int(min((rows[:, -1].astype(np.float64) - rows[:, 0]).max() / narrow.min(), TABLE)) + 3
    if bins * len(rows) > TABLE:
        return None
    origin = (rows[:, 0] - narrow).astype(np.float32)
    density = (1 / narrow).astype(np.float32)
    place = bin_numbers(rows, origin[:, None], density[:, None], bins).astype(np.int64)
    if np.diff(place, axis=1).min() <= 0:
        return None
    edges = np.full((len(rows), bins), np.nan, np.float32)
    np.put_along_axis(edges, place, rows, axis=1)
    reached = np.cumsum(~np.isnan(edges), axis=1)
    levels = np.concatenate([np.zeros((len(rows), 1)), reached[:, :-1]], axis=1)
    start = np.arange(len(rows)) * bins
    columns = [origin, density, *(one.astype(np.float32) for one in (start, levels.ravel()))]
    held = [node.hold(one) for one in (*columns, edges.ravel())]
    stated = {"axis": threshold.axis, "scale": threshold.scale, "bias": threshold.bias}
    return node.emit(ways.look_up_bins, [source, *held], outputs, bins=bins, **stated)
