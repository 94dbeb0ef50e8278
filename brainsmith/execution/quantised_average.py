"""What a QuantAvgPool computes; without FINN, whose Python model shifts by something else than its hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

FUNCTION = "QuantAvgPool"


def quantised_average(windows: npt.NDArray[Any], channels: int, shift: int) -> npt.NDArray[np.float32]:
    """Return the sum of each window, shifted right (towards minus infinity).

    QONNX's QuantAvgPool2d derives the shift from the bits that it states of its input and output; FINN's kernel notes it
    as `Size`, which its HLS reads. The datatypes may be others, and change when they are minimised.

    Args:
        windows: (..., positions x channels), whole numbers, position by position.
        channels: In a position.
        shift: Bits.
    """
    values = windows.astype(np.int64).reshape(*windows.shape[:-1], -1, channels)
    return np.asarray(np.right_shift(values.sum(axis=-2), shift), np.float32)
