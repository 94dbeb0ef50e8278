"""In which type a product of integers is exact.

A sum of products is exact, in whatever order it is added, if no partial sum can reach the first whole number that its
type does not hold: 2^24 + 1 in float32, 2^53 + 1 in float64. The bound of all partial sums is the sum of the products'
magnitudes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions import matrix
from brainsmith.graph.model_facts import span_of

if TYPE_CHECKING:
    from brainsmith.execution.program.program_node import ProgramNode

Array = np.ndarray[Any, Any]
Span = tuple[int, int]

FLOAT32_END = 1 << 24
"""Whole numbers up to here are exact in float32, and so are their sums in any order."""

FLOAT64_END = 1 << 53
"""The same of float64."""


def product_span(left: Span, weights: Array) -> Span | None:
    """Return what sums over the first axis of whole weights, times values of a span, lie between.

    Args:
        left: Of the values that are multiplied.
        weights: (terms, results).

    Returns:
        None if the weights are not whole numbers.
    """
    if span_of(weights) is None:
        return None
    low, high = left
    exact = weights.astype(object) if _is_huge(left, weights) else weights.astype(np.float64)
    lowest = np.minimum(exact * low, exact * high).sum(axis=0)
    highest = np.maximum(exact * low, exact * high).sum(axis=0)
    if not lowest.size:
        return 0, 0
    return int(lowest.min()), int(highest.max())


def product_bound(left: Span, weights: Array) -> int:
    """Return what the magnitude of no partial sum exceeds; of whole weights (terms, results)."""
    largest = max(abs(left[0]), abs(left[1]))
    exact = weights.astype(object) if _is_huge(left, weights) else weights.astype(np.float64)
    sums = np.abs(exact).sum(axis=0)
    return int(sums.max()) * largest if sums.size else 0


def exact_type(left: Span | None, weights: Array) -> str:
    """Return the type in which values of a span times weights (terms, results) are summed.

    Returns:
        "float32", "float64" or "int64": the first in which the sum is exact; float32 where either is not whole
        numbers, as the reference does.
    """
    if left is None or span_of(weights) is None:
        return "float32"
    return type_of_bound(product_bound(left, weights))


def type_of_bound(bound: int) -> str:
    """Return the first type that holds every whole number up to a bound."""
    if bound <= FLOAT32_END:
        return "float32"
    return "float64" if bound <= FLOAT64_END else "int64"


def emit_product(node: ProgramNode, left: str, weights: Array, output: str | None = None) -> str:
    """Emit values (..., terms) times constant weights (terms, results), exactly where that can be.

    Args:
        node: The node that is lowered.
        left: A stack whose last axis is the terms.
        weights: (terms, results).
        output: Its name; None makes a temporary.

    Returns:
        Name of the product, float32, whose span is proved where both are whole numbers.

    Raises:
        Unsupported: They are not, and the program is to give the reference's own bits.
    """
    span = node.span(left)
    if span is None or span_of(weights) is None:
        node.rounds_differently()
    kind = exact_type(span, weights)
    held = node.hold(weights.astype(kind))
    name = node.emit(matrix.product, [left, held], None if output is None else [output], exact=kind)
    proved = None if span is None else product_span(span, weights)
    if proved is not None and kind != "int64":
        node.prove(name, *proved)
    return name


def _is_huge(left: Span, weights: Array) -> bool:
    """Tell whether float64 may not hold the sums that bounds are made of; Python's integers do."""
    largest = max(abs(left[0]), abs(left[1]), 1)
    return largest * max(float(np.abs(weights).max(initial=0)), 1.0) * len(weights) >= FLOAT64_END
