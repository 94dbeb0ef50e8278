"""Elementwise functions with a parameter for each channel, over pieces that fit in a cache and rows that are long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable


PIECE = 1 << 15
"""Elements that go through all passes together."""

LONG = 64
"""Elements after a channel from which on NumPy's loops over them cost little each."""

ROW = 1 << 10
"""Elements of a row into which the parameters of all channels are repeated."""


def by_channel(
    function: Callable[..., None], x: Array, axis: int, columns: tuple[Array, ...], dtype: Any = np.float32
) -> Array:
    """Run `function(x, *columns, out=)` over pieces of a stack, each column fitted to the piece.

    Args:
        function: Writes to `out`.
        x: A stack, with at least one element per run.
        axis: Of the channels, from the end.
        columns: Parameters: (channels or 1, ...); what they have after the first axis comes first for the function,
            so (channels, n) is passed as n arrays.
        dtype: Of the result.

    Returns:
        An array like x.
    """
    out = np.empty(x.shape, dtype)
    if not x.size:
        return out
    source = np.ascontiguousarray(x)
    channels = max(len(column) for column in columns)
    inner = int(np.prod(x.shape[x.ndim + axis + 1 :]))
    if channels == 1:
        _pieces(
            function, source.reshape(-1), [_first_last(c, (c.shape[0],)) for c in columns], out.reshape(-1)
        )
    elif inner >= LONG:
        shape = (-1, channels, inner)
        fitted = [_first_last(c, (len(c), 1)) for c in columns]
        _pieces(function, source.reshape(shape), fitted, out.reshape(shape))
    else:
        _in_rows(function, source, columns, inner, out)
    return out


def _in_rows(
    function: Callable[..., None], x: Array, columns: tuple[Array, ...], inner: int, out: Array
) -> None:
    """Repeat the columns of all channels into rows that are long enough, and go over these."""
    width = max(len(column) for column in columns) * inner
    count = max(min(ROW // width, x.size // width), 1)
    rows = [np.repeat(np.broadcast_to(c, (width // inner, *c.shape[1:])), inner, axis=0) for c in columns]
    long = [_first_last(np.tile(r, (count,) + (1,) * (r.ndim - 1)), (count * width,)) for r in rows]
    whole = x.size // (count * width) * (count * width)
    given, wanted = x.reshape(-1), out.reshape(-1)
    _pieces(
        function, given[:whole].reshape(-1, count * width), long, wanted[:whole].reshape(-1, count * width)
    )
    if whole < x.size:
        rest = [column[..., : x.size - whole] for column in long]
        function(given[whole:], *rest, out=wanted[whole:])


def _first_last(column: Array, shape: tuple[int, ...]) -> Array:
    """Move the first axis to the end, in a shape for broadcasting."""
    return np.moveaxis(column, 0, -1).reshape(*column.shape[1:], *shape).copy()


def _pieces(function: Callable[..., None], x: Array, columns: list[Array], out: Array) -> None:
    step = max(PIECE // max(x[:1].size, 1), 1)
    for at in range(0, len(x), step):
        function(x[at : at + step], *columns, out=out[at : at + step])
