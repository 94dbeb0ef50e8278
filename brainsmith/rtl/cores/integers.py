"""Datatypes of ranges of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qonnx.core.datatype import BaseDataType


def integer_bits(low: int, high: int) -> int:
    """Return how many bits hold all integers from `low` to `high`: two's complement if `low` is below 0; 1 or more."""
    if low < 0:
        return max((~low).bit_length(), high.bit_length() if high > 0 else 0) + 1
    return max(high.bit_length(), 1)


def integer_datatype(low: int, high: int) -> BaseDataType:
    """Return the smallest INT (if `low` is below 0) or UINT datatype that holds all integers from `low` to `high`."""
    from qonnx.core.datatype import DataType

    return DataType[f"{'INT' if low < 0 else 'UINT'}{integer_bits(low, high)}"]
