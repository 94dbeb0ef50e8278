"""Sums, means, largest values and their places along axes of each run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.instruction_table import instruction
from brainsmith.graph.array_types import Array, Shape

if TYPE_CHECKING:
    from collections.abc import Callable


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "Max": np.max, "Min": np.min, "Prod": np.prod, "Sum": np.sum, "Mean": np.mean,
}  # fmt: skip
"""By the name of ONNX's operator without its first syllable."""


@instruction
def reduce(values: Array, *, name: str, axes: Shape, keep: bool, exact: str) -> Array:
    """Reduce axes of each run (`Sum`, `Mean`, `Max`, `Min`, `Prod`), computing in a type; the given type comes back."""
    wide = values.astype(exact, copy=False)
    result = REDUCTIONS[name](wide, axis=tuple(axis + 1 for axis in axes), keepdims=keep)
    return np.asarray(result, values.dtype)


@instruction
def place_of_extreme(values: Array, *, axis: int, keep: bool, last: bool, largest: bool) -> Array:
    """Return where along an axis the largest (or smallest) value is: the first such place, or the last."""
    at = axis + 1
    find = np.argmax if largest else np.argmin
    if last:
        found = values.shape[at] - 1 - find(np.flip(values, at), axis=at)
    else:
        found = find(values, axis=at)
    return np.asarray(np.expand_dims(found, at) if keep else found, np.int64)


@instruction
def top(values: Array, *, count: int, axis: int, largest: bool) -> tuple[Array, Array]:
    """Return the largest (or smallest) values along an axis, in order, and their places; the first of equals leads."""
    at = axis + 1
    if count == 1:
        places = np.expand_dims((np.argmax if largest else np.argmin)(values, axis=at), at)
    elif largest:
        flipped = np.flip(values, at)
        order = np.flip(np.argsort(flipped, axis=at, kind="stable"), at)
        places = values.shape[at] - 1 - np.take(order, np.arange(count), axis=at)
    else:
        places = np.take(np.argsort(values, axis=at, kind="stable"), np.arange(count), axis=at)
    return np.take_along_axis(values, places, at), places.astype(np.int64)


@instruction
def softmax(values: Array, *, axes: Shape, logarithm: bool) -> Array:
    """Return exp(x) over its sum along axes of each run, or the logarithm of that."""
    at = tuple(axis + 1 for axis in axes)
    shifted = values - values.max(axis=at, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(axis=at, keepdims=True)
    return np.asarray(shifted - np.log(total) if logarithm else powers / total)


@instruction
def layer_norm(values: Array, scale: Array, bias: Array | None, *, axis: int, epsilon: float) -> Array:
    """Normalise the axes of each run from one on to mean 0 and variance 1, then scale and shift."""
    at = tuple(range(axis + 1, values.ndim))
    centred = values - values.mean(axis=at, keepdims=True, dtype=np.float64).astype(values.dtype)
    variance = np.square(centred).mean(axis=at, keepdims=True, dtype=np.float64)
    result = centred * (1 / np.sqrt(variance + epsilon)).astype(values.dtype) * scale
    return np.asarray(result if bias is None else result + bias)
