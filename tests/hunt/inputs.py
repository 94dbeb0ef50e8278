"""Inputs for a network that its build did not see: random ones, and those at which arithmetic tends to be wrong."""

from __future__ import annotations

import numpy as np
from qonnx.core.datatype import DataType

RANDOM = 24


def unseen_inputs(shape: tuple[int, ...], datatype: str, seed: int) -> np.ndarray:
    """Return a stack (samples, *shape) in float32.

    Of an integer type: all its values in turn where there are few, then random samples, all-minimum, all-maximum,
    alternating and sparse ones. Of floats: grid points of small steps and what lies between them.
    """
    rng = np.random.default_rng([seed, 1])
    if datatype == "FLOAT32":
        halves = rng.integers(-48, 49, (RANDOM, *shape)) / 16.0
        noise = rng.normal(scale=1.5, size=(RANDOM, *shape))
        ends = np.stack([np.full(shape, value) for value in (0.0, -100.0, 100.0, 1e-3)])
        return np.concatenate([halves, noise, ends]).astype(np.float32)
    kind = DataType[datatype]
    low, high = int(kind.min()), int(kind.max())
    values = np.array([-1, 1]) if datatype == "BIPOLAR" else np.arange(low, high + 1)
    samples = [rng.choice(values, (RANDOM, *shape))]
    ends = np.indices(shape).sum(axis=0) % 2
    extremes = np.stack(
        [np.full(shape, low), np.full(shape, high), np.where(ends, low, high), np.where(ends, high, low)]
    )
    sparse = np.where(
        rng.random((4, *shape)) < 0.15, rng.choice(values, (4, *shape)), values[len(values) // 2]
    )
    return np.concatenate([*samples, extremes, sparse]).astype(np.float32)


def golden_inputs(shape: tuple[int, ...], datatype: str, seed: int) -> np.ndarray:
    """Return the few samples that a user might have at hand, with which the build verifies."""
    return unseen_inputs(shape, datatype, seed + 1_000_003)[:4]
