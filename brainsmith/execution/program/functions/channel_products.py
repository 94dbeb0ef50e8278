"""Products of each channel's window with weights of its own."""

from __future__ import annotations

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array

PIECE = 1 << 14
"""Results whose sums are gathered together, so that they stay in a cache."""


@instruction
def multiply_windows(
    windows: Array, weights: Array, *, lanes: int, exact: str, dtype: str = "float32"
) -> Array:
    """Sum windows (..., positions * channels) times weights over the positions: (..., channels).

    Args:
        windows: So many channels at a time, all positions of each: all of them is position by position.
        weights: (positions, channels), of the type in which sums are computed.
        lanes: Channels at a time.
        exact: That type.
        dtype: Of the results.
    """
    positions, channels = weights.shape
    folds = channels // lanes
    rows = windows.reshape(-1, folds, positions, lanes)
    factors = weights.reshape(positions, folds, lanes)
    result = np.empty((len(rows), folds, lanes), dtype)
    step = max(PIECE // channels, 1)
    for at in range(0, len(rows), step):
        piece = rows[at : at + step].astype(exact, copy=False)
        result[at : at + step] = np.einsum("rfpl,pfl->rfl", piece, factors)
    return result.reshape(*windows.shape[:-1], channels)
