"""Folded values as the words of a stream, and back: the first lane lies in the lowest bits, as in FINN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.integer[Any]]
    Words = NDArray[np.uint8]

MAX_BITS = 62
"""The widest lane; a word has any number of lanes."""


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
    lanes = _whole(values, bits)
    wanted = lanes.shape[-1] * bits
    width = wanted if word_bits is None else word_bits
    if wanted > width:
        raise ValueError(f"{lanes.shape[-1]} lanes of {bits} bits do not fit a word of {width} bits")
    single = (lanes[..., None] >> np.arange(bits)) & 1
    rows = single.astype(np.uint8).reshape(-1, wanted)
    padded = np.zeros((len(rows), (width + 7) // 8 * 8), np.uint8)
    padded[:, :wanted] = rows
    return np.packbits(padded, axis=1, bitorder="little")


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
        raise ValueError(f"{lanes} lanes of {bits} bits are not in words of {words.shape[1] * 8} bits")
    single = np.unpackbits(words, axis=1, bitorder="little")[:, : lanes * bits]
    weights = np.int64(1) << np.arange(bits, dtype=np.int64)
    if signed:
        weights[-1] = -weights[-1]
    return single.reshape(len(words), lanes, bits).astype(np.int64) @ weights


def _whole(values: Integers, bits: int) -> NDArray[np.int64]:
    _check_bits(bits)
    found = np.atleast_2d(np.asarray(values))
    lanes = found.astype(np.int64)
    if not np.array_equal(lanes, found):
        raise ValueError("values must be whole numbers")
    if lanes.size and (lanes.min() < -(1 << (bits - 1)) or lanes.max() >= 1 << bits):
        raise ValueError(f"values from {lanes.min()} to {lanes.max()} do not fit {bits} bits")
    return lanes


def _check_bits(bits: int) -> None:
    if not 1 <= bits <= MAX_BITS:
        raise ValueError(f"bits must be from 1 to {MAX_BITS}, not {bits!r}")
