"""Between which whole numbers an operator's results lie, by the operator's name."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from brainsmith.graph.integer_range import IntegerRange, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TRUTHS = (
    "And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor",
)  # fmt: skip
"""Operators that give 0 or 1."""

_ROUNDINGS = ("Ceil", "Floor", "Round")
"""Operators that leave whole numbers as they are."""

_OF_ONE: dict[str, Callable[[IntegerRange], IntegerRange]] = {
    "Abs": lambda x: x.greater(x.times(-1)).greater(0),
    "Neg": lambda x: x.times(-1),
    "Relu": lambda x: x.greater(0),
    "Sign": lambda x: x.clipped(-1, 1),
}

_OF_SEVERAL: dict[str, Callable[[IntegerRange, IntegerRange], IntegerRange]] = {
    "Add": IntegerRange.plus,
    "Concat": IntegerRange.holding,
    "Max": IntegerRange.greater,
    "Min": IntegerRange.lesser,
    "Mul": IntegerRange.times,
    "Sub": lambda x, y: x.plus(y.times(-1)),
    "Sum": IntegerRange.plus,
    "Where": IntegerRange.holding,
}
"""Of two tensors; of more, one after the other."""


def range_of(name: str, ranges: Sequence[IntegerRange | None]) -> IntegerRange | None:
    """Return between which whole numbers the results of an operation lie; None if that is not known.

    Args:
        name: Of ONNX's operator.
        ranges: Of its inputs.
    """
    if name in TRUTHS:
        return within(0, 1)
    values = ranges[1:] if name == "Where" else ranges
    known = [each for each in values if each is not None]
    if len(known) < len(values):
        return None
    if name in _ROUNDINGS:
        return known[0]
    if name in _OF_ONE:
        return _OF_ONE[name](known[0])
    return reduce(_OF_SEVERAL[name], known) if name in _OF_SEVERAL else None
