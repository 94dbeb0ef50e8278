"""Normalisation and softmax of rows of whole numbers, as our kernels' hardware computes them, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array

_OFF = 4
"""More than an estimate of a root is off by."""


@instruction
def normalise_rows(
    rows: Array,
    *,
    size: int,
    epsilon_term: int,
    shift: int,
    root_bits: int,
    fraction_bits: int,
    output_bits: int,
) -> Any:
    """Normalise rows of integers (kernels/integer_layer_norm.py says what the parameters are)."""
    values = rows.astype(np.int64)
    total = values.sum(axis=-1, keepdims=True)
    squares = np.square(values).sum(axis=-1, keepdims=True)
    deviation = size * squares - np.square(total) + epsilon_term
    product = (size * values - total) * inverse_roots(deviation, shift, root_bits)
    drop = shift - fraction_bits
    limit = 1 << (output_bits - 1)
    rounded = (product + (1 << (drop - 1))) >> drop
    return np.clip(rounded, -limit, limit - 1).astype(np.float32)


def inverse_roots(deviation: Array, shift: int, root_bits: int) -> Any:
    """Return `floor(2^shift / sqrt(d))` of each d, at most what fits in so many bits; that of 0 is that of 1.

    An estimate in double precision is off by a few at most. What is left, `4^shift - root^2 d`, then tells which
    way: it fits in 64 bits, although its terms need not, so it is computed modulo 2^64.
    """
    d = np.maximum(deviation, 1)
    most = (1 << root_bits) - 1
    estimate = np.floor(np.ldexp(1 / np.sqrt(d.astype(np.float64)), shift))
    clipped = estimate > most + _OFF
    root = np.where(clipped, most, estimate).astype(np.int64)
    one, wide = np.uint64(pow(4, shift, 1 << 64)), d.astype(np.uint64)
    for _ in range(_OFF):
        square = root.astype(np.uint64)
        left = (one - square * square * wide).view(np.int64)
        step = np.where(left < 0, -1, np.where(left >= (2 * root + 1) * d, 1, 0))
        step[clipped] = 0
        if not step.any():
            break
        root += step
    return np.minimum(root, most)


@instruction
def soften_rows(rows: Array, powers: Array, *, shift: int, fraction_bits: int, output_bits: int) -> Any:
    """Return the softmax of rows of integers (kernels/integer_softmax.py says what the parameters are).

    Args:
        rows: A stack.
        powers: The table of powers, int64, by how far a value is below the row's greatest.
        shift: Fraction bits of the reciprocal, with those of a power.
        fraction_bits: Of the result.
        output_bits: Of the result.
    """
    values = rows.astype(np.int64)
    below = values.max(axis=-1, keepdims=True) - values
    found = np.take(powers, np.minimum(below, len(powers) - 1))
    reciprocal = (1 << shift) // found.sum(axis=-1, keepdims=True)
    drop = shift - fraction_bits
    rounded = (found * reciprocal + (1 << (drop - 1))) >> drop
    return np.minimum(rounded, (1 << output_bits) - 1).astype(np.float32)


@instruction
def normalise_floats(rows: Array, *, epsilon: float) -> Any:
    """Normalise rows to mean 0 and variance 1 in double precision, with one rounding to float32."""
    values = rows.astype(np.float64)
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return (centred / np.sqrt(variance + epsilon)).astype(np.float32)


@instruction
def soften_floats(rows: Array, *, wide: bool) -> Any:
    """Return the softmax of rows: in double precision with one rounding, as our kernel, or in float32, as FINN's."""
    values = rows.astype(np.float64) if wide else rows
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
