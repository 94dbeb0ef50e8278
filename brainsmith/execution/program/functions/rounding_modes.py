"""The rounding modes of QONNX's quantisers, and the ranges of their integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Callable


def _from_zero(values: Array, out: Array | None = None) -> Any:
    return np.multiply(np.sign(values), np.ceil(np.abs(values)), out=out)


def _half_from_zero(values: Array, out: Array | None = None) -> Any:
    return np.multiply(np.sign(values), np.floor(np.abs(values) + values.dtype.type(0.5)), out=out)


def _half_to_zero(values: Array, out: Array | None = None) -> Any:
    return np.multiply(np.sign(values), np.ceil(np.abs(values) - values.dtype.type(0.5)), out=out)


ROUNDINGS: dict[str, Callable[..., Any]] = {
    "ROUND": np.rint, "HALF_EVEN": np.rint, "CEIL": np.ceil, "FLOOR": np.floor, "UP": _from_zero, "DOWN": np.trunc,
    "HALF_UP": _half_from_zero, "HALF_DOWN": _half_to_zero,
}  # fmt: skip
"""Functions of values, and of `out` where there is one, by name: UP and DOWN are from and towards 0, the modes with HALF
say where one goes."""


def integer_limits(bits: Array, signed: bool, narrow: bool) -> tuple[Any, Any]:
    """Return the least and the greatest integer of so many bits, in the dtype of `bits`.

    Args:
        bits: How many; a float's arithmetic rounds where it does not hold the range, as QONNX's does.
        signed: Two's complement.
        narrow: Without the least one if signed, without the greatest one if not.
    """
    if signed:
        half = 2 ** (bits - 1)
        return -half + (1 if narrow else 0), half - 1
    return 0 * bits, 2**bits - (2 if narrow else 1)
