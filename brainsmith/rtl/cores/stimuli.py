"""Frames for a core's test: both ends of each range, every value where that is possible, and random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ENDS = 4
"""The frames of both ends of the range: all the least, all the greatest, alternately, and 0 among them."""


LEAST = 64
"""The frames of a test, at least."""

MOST_VALUES = 256
"""Of a datatype with so many values, or fewer, all are tried."""


def enough(inputs: Sequence[tuple[Sequence[int], str]]) -> int:
    """Return how many frames try every value of each input that has few, in half of them.

    Args:
        inputs: As `stimuli` takes them.
    """
    from math import prod

    from qonnx.core.datatype import DataType

    counts = [LEAST]
    for shape, kind in inputs:
        datatype = DataType[kind]
        values = int(datatype.max()) - int(datatype.min()) + 1 if datatype.is_integer() else 0
        if values <= MOST_VALUES:
            counts.append(2 * -(-values // prod(shape)))
    return max(counts)


def stimuli(seed: int, inputs: Sequence[tuple[Sequence[int], str]], count: int) -> list[NDArray[Any]]:
    """Return frames for each input: extremes, then all values in order, as far as half of the frames go, then random ones.

    Args:
        seed: Of the random values.
        inputs: Shape of a frame and QONNX datatype of each.
        count: Of frames.
    """
    random = np.random.default_rng(seed)
    return [_frames(random, kind, (count, *shape), at) for at, (shape, kind) in enumerate(inputs)]


def _frames(random: np.random.Generator, kind: str, shape: tuple[int, ...], at: int) -> NDArray[Any]:
    from qonnx.core.datatype import DataType

    from brainsmith.rtl.cores.trial import WHOLE, random_values

    frames = random_values(random, kind, shape)
    datatype = DataType[kind]
    if not datatype.is_integer():
        return frames
    low, high = max(int(datatype.min()), -WHOLE), min(int(datatype.max()), WHOLE)
    flat = frames.reshape(shape[0], -1)
    ends = [[low], [high], [low, high], [0 if datatype.allowed(0) else low, high, low]]
    for number, pattern in enumerate(ends[: shape[0] - 1]):
        flat[number] = np.resize(pattern[::-1] if at % 2 else pattern, flat.shape[1])
    swept = _in_order(low, high, datatype.allowed, (shape[0] // 2) * flat.shape[1])
    swept = swept[::-1] if at % 2 else swept  # two inputs together have other pairs than equal ones
    rows = min(-(-len(swept) // flat.shape[1]), max(0, shape[0] - ENDS))
    flat[ENDS : ENDS + rows] = np.resize(swept, (rows, flat.shape[1]))
    return flat.reshape(shape)


def _in_order(low: int, high: int, allowed: Any, most: int) -> NDArray[Any]:
    """Return all values of a range, or where there are too many those about its ends and 0, and some between."""
    if high - low < most:
        values = range(low, high + 1)
        return np.array([value for value in values if allowed(value)], np.int64)
    near = [value for end in (low, 0, high) for value in range(end - 2, end + 3) if low <= value <= high]
    between = np.linspace(low, high, max(0, most - len(near))).round().astype(np.int64)
    return np.array([*near, *between], np.int64)
