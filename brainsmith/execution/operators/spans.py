"""Between which whole numbers results lie, of operations on whole numbers."""

from __future__ import annotations

import operator
from functools import partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.graph.integer_range import Span

TRUTHS = (
    "And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor",
)  # fmt: skip
"""Operations that give 0 or 1."""

_OF_ONE: dict[str, Callable[[int], int]] = {
    "Ceil": int,
    "Floor": int,
    "Neg": operator.neg,
    "Relu": lambda v: max(v, 0),
    "Round": int,
    "Sign": lambda v: (v > 0) - (v < 0),
}
_OF_SEVERAL: dict[str, Callable[[int, int], int]] = {
    "Add": operator.add, "Max": max, "Min": min, "Mul": operator.mul, "Sub": operator.sub, "Sum": operator.add,
}  # fmt: skip


def span_of_result(name: str, spans: Sequence[Span | None]) -> Span | None:
    """Return between which whole numbers the results of an operation lie; None if that is not known.

    Args:
        name: Of ONNX's operator.
        spans: Of its inputs.
    """
    if name in TRUTHS:
        return 0, 1
    if name == "Where":
        spans = spans[1:]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return None
    if name == "Where":
        return min(low for low, _ in known), max(high for _, high in known)
    if name == "Abs":
        ((low, high),) = known
        return max(low, -high, 0), max(-low, high)
    if name in _OF_ONE:
        return _reached(_OF_ONE[name], *known)
    # One tensor at a time: the ends of all would be as many as 2 to their number.
    return reduce(partial(_reached, _OF_SEVERAL[name]), known) if name in _OF_SEVERAL else None


def _reached(function: Callable[..., int], *spans: Span) -> Span:
    """Return what a function reaches that has its extremes at the ends of its arguments."""
    ends = [function(*corner) for corner in product(*spans)]
    return min(ends), max(ends)


def span_held(dtype: np.dtype[Any], span: Span) -> bool:
    """Tell whether a type holds all whole numbers of a span, or rounds those that it does not to others."""
    if dtype.kind == "f":
        return max(map(abs, span)) <= 1 << 11 if dtype.itemsize == 2 else True
    if dtype.kind == "b":
        return span in ((0, 0), (0, 1), (1, 1))
    if dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return int(limits.min) <= span[0] and span[1] <= int(limits.max)
