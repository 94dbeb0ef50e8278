"""How many thresholds a value reaches: by comparing, by looking up, or by searching in halves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


TABLE_LIMIT = 1 << 18
"""Entries of a table of results; a larger one falls out of the processor's cache."""

_COMPARED = 3
"""Up to so many thresholds are compared one after the other."""


def emit_levels(
    view: NodeView, emit: Emitter, x: str, bounds: Array, axis: int, levels: Array, output: str
) -> None:
    """Write which level a value has: `levels[n]` where it reaches n of its channel's thresholds.

    `x` has the shape of `output`, with its channels in an axis, counted from the end; bounds are (channels or 1, T),
    of the type of `x`, ascending; the T + 1 levels are float32.

    Raises:
        Unsupported: A threshold is no number.
    """
    shape = view.shape(output)
    if np.isnan(bounds).any():
        raise Unsupported("a threshold is NaN")
    aside = (1,) if len(bounds) == 1 else (len(bounds),) + (1,) * (-1 - axis)
    span = view.span(x)
    table = _table(bounds, span, levels)
    if bounds.shape[1] == 0:
        emit.affine(emit.affine(x, 0.0, 0.0), 0.0, float(levels[0]), output)
    elif bounds.shape[1] == 1:
        _one(emit, x, bounds.reshape(aside), levels, output)
    elif bounds.shape[1] <= _COMPARED and _is_straight(levels):
        _compared(emit, x, bounds.T.reshape(bounds.shape[1], *aside), levels, output)
    elif table is not None:
        _looked_up(emit, x, table[0], table[1], aside, shape, output)
    else:
        _searched(emit, x, bounds, aside, levels, shape, output)
    if np.array_equal(levels, np.rint(levels)):
        view.prove(output, float(levels.min()), float(levels.max()))


def _is_straight(levels: Array) -> bool:
    return bool(np.array_equal(levels, levels[0] + np.arange(len(levels), dtype=np.float32)))


def _one(emit: Emitter, x: str, bound: Array, levels: Array, output: str) -> None:
    reached = emit.at_least(x, emit.constant(bound, "thresholds", bound.dtype))
    high, low = emit.constant(levels[1], "scalar"), emit.constant(levels[0], "scalar")
    emit.add("Where", [reached, high, low], output)


def _compared(emit: Emitter, x: str, bounds: Array, levels: Array, output: str) -> None:
    total = emit.constant(levels[0], "scalar")
    for at, bound in enumerate(bounds):
        reached = emit.add("Cast", [emit.at_least(x, emit.constant(bound, "thresholds", bound.dtype))], to=1)
        total = emit.add("Add", [reached, total], output if at == len(bounds) - 1 else "")


def _table(bounds: Array, span: tuple[int, int] | None, levels: Array) -> tuple[Array, int] | None:
    """Return (channels, values) levels of all whole numbers that can differ, and the first of these."""
    finite = bounds[np.isfinite(bounds)]
    if span is None or not finite.size or bounds.dtype != np.float32:
        return None
    low = max(float(np.ceil(finite.min())) - 1, span[0])
    high = max(min(float(np.ceil(finite.max())), span[1]), low)
    width = high - low + 1
    if width * len(bounds) > TABLE_LIMIT or max(abs(low), abs(high), width * len(bounds)) >= FLOAT32_END:
        return None
    values = low + np.arange(int(width))
    counts = np.stack([np.searchsorted(row, values, side="right") for row in bounds])
    return levels[counts].astype(np.float32), int(low)


def _looked_up(
    emit: Emitter, x: str, table: Array, low: int, aside: tuple[int, ...], shape: tuple[int, ...], output: str
) -> None:
    channels, width = table.shape
    first, last = emit.constant(low, "scalar"), emit.constant(low + width - 1, "scalar")
    inside = emit.add("Clip", [x, first, last])
    offset = (np.arange(channels) * width - low).reshape(aside) if channels > 1 else np.asarray(-low)
    place = emit.add("Add", [inside, emit.constant(offset, "offset")]) if np.any(offset) else inside
    index = emit.add("Cast", [place], to=6)
    emit.looked_up(table.reshape(-1), index, shape, output)


def _searched(
    emit: Emitter,
    x: str,
    bounds: Array,
    aside: tuple[int, ...],
    levels: Array,
    shape: tuple[int, ...],
    output: str,
) -> None:
    """Halve the range of the count until it is known; after the last bound lie NaNs, which nothing reaches."""
    channels, count = bounds.shape
    width = 1 << count.bit_length()
    padded = np.full((channels, width), np.nan, bounds.dtype)
    padded[:, :count] = bounds
    place = emit.constant((np.arange(channels) * width).reshape(aside), "offset", np.int32)
    step = width // 2
    middle = emit.constant(padded[:, step - 1].reshape(aside), "thresholds", bounds.dtype)
    while True:
        reached = emit.at_least(x, middle)
        further = emit.add("Add", [place, emit.constant(step, "scalar", np.int32)])
        place = emit.add("Where", [reached, further, place])
        step //= 2
        if not step:
            break
        # What is looked up at a place is the bound that lies step - 1 after it, in its own row.
        behind = np.append(padded.reshape(-1)[step - 1 :], np.full(step - 1, np.nan, bounds.dtype))
        middle = emit.looked_up(behind, place, shape)
    spread = np.full((channels, width), levels[-1], np.float32)
    spread[:, : count + 1] = levels
    emit.looked_up(spread.reshape(-1), place, shape, output)
