"""Folded values as the words of a stream, and back: the first lane lies in the lowest bits, as in FINN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.figures import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Integers = NDArray[np.integer[Any]]
    Words = NDArray[np.uint8]

MAX_BITS = 62
"""The widest lane; a word has any number of lanes."""

_BITS = 1 << 18
"""That are packed or unpacked at once."""


def pack(values: Integers, bits: int, word_bits: int | None = None) -> Words:
    """Pack integers into words.

    Args:
        values: Whole numbers; the last dimension is the lanes of one beat, those before it are the beats in order.
        bits: The width of a lane. Negative values are in two's complement.
        word_bits: The width of the port; the lanes' own, rounded up to whole bytes, by default.

    Returns:
        One row of bytes per beat, the lowest first.

    Raises:
        ValueError: A value is not whole or does not fit, or the lanes are wider than the word.
    """
    rows = _whole(values, bits)
    lanes = rows.shape[-1]
    wanted = lanes * bits
    width = wanted if word_bits is None else word_bits
    if wanted > width:
        raise ValueError(
            f"{plural(lanes, 'lane')} of {plural(bits, 'bit')} do not fit a word of {plural(width, 'bit')}"
        )
    words = np.zeros((len(rows), (width + 7) // 8), np.uint8)
    used = (wanted + 7) // 8
    for part in _parts(len(rows), wanted):
        single = (rows[part].astype(np.int64)[..., None] >> np.arange(bits)) & 1
        bytewise = single.astype(np.uint8).reshape(-1, wanted)
        words[part, :used] = np.packbits(bytewise, axis=1, bitorder="little")
    return words


def unpack(words: Words, bits: int, lanes: int, signed: bool) -> NDArray[np.int64]:
    """Return the integers in words: one row of lanes per beat.

    Args:
        words: One row of bytes per beat, the lowest first.
        bits: The width of a lane.
        lanes: How many a beat has; what a word has beyond them is ignored.
        signed: Whether the lanes are in two's complement.
    """
    _check_bits(bits)
    if words.shape[1] * 8 < lanes * bits:
        raise ValueError(
            f"{plural(lanes, 'lane')} of {plural(bits, 'bit')} are not in words of {plural(words.shape[1] * 8, 'bit')}"
        )
    weights = np.int64(1) << np.arange(bits, dtype=np.int64)
    if signed:
        weights[-1] = -weights[-1]
    values = np.empty((len(words), lanes), np.int64)
    for part in _parts(len(words), lanes * bits):
        single = np.unpackbits(words[part], axis=1, bitorder="little")[:, : lanes * bits]
        values[part] = single.reshape(-1, lanes, bits).astype(np.int64) @ weights
    return values


def _parts(beats: int, bits: int) -> Iterator[slice]:
    """Yield parts of all beats: each bit takes several bytes while it is moved, so few are at a time."""
    step = max(1, _BITS // max(bits, 1))
    return (slice(begin, begin + step) for begin in range(0, beats, step))


def _whole(values: Integers, bits: int) -> NDArray[Any]:
    """Return the values as (beats, lanes), not copied, after a check of each."""
    _check_bits(bits)
    found = np.atleast_2d(np.asarray(values))
    rows = found.reshape(-1, found.shape[-1])
    if rows.dtype.kind not in "iub":
        for part in _parts(len(rows), rows.shape[-1]):
            if not np.array_equal(rows[part].astype(np.int64), rows[part]):
                raise ValueError("values must be whole numbers")
    low, high = (int(rows.min()), int(rows.max())) if rows.size else (0, 0)
    if low < -(1 << (bits - 1)) or high >= 1 << bits:
        raise ValueError(f"values from {low} to {high} do not fit {plural(bits, 'bit')}")
    return rows


def _check_bits(bits: int) -> None:
    if not 1 <= bits <= MAX_BITS:
        raise ValueError(f"bits must be from 1 to {MAX_BITS}, not {bits!r}")
