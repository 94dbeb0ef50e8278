"""In which type a product of integers is exact.

A sum of products is exact, in whatever order it is added, if no partial sum can reach the first whole number that its
type does not hold: 2^24 + 1 in float32, 2^53 + 1 in float64. The bound of all partial sums is the sum of the products'
magnitudes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from brainsmith.execution.program.functions import matrix
from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import FLOAT32_END, FLOAT64_END, IntegerRange, range_of_values

if TYPE_CHECKING:
    from brainsmith.execution.program.program_node import ProgramNode


class Sums(NamedTuple):
    """Sums of products of whole numbers.

    Attributes:
        range: Of each result.
        bound: What the magnitude of no partial sum exceeds.
    """

    range: IntegerRange
    bound: int

    @property
    def exact(self) -> str:
        """The first of "float32", "float64" and "int64" in which they are exact."""
        return type_of_bound(self.bound)


def sums_of(left: IntegerRange | None, weights: Array) -> Sums | None:
    """Return the sums over the first axis of weights, times values of a range.

    Args:
        left: Of the values that are multiplied: of all, or of each term.
        weights: (terms, results).

    Returns:
        None if the values or the weights are not known to be whole numbers.
    """
    if left is None or range_of_values(weights) is None:
        return None
    largest = np.maximum(abs(left.low), abs(left.high))
    return Sums(left.sums(weights), IntegerRange(largest, largest).sums(np.abs(weights)).ends[1])


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
        Name of the product, whose span is proved where both are whole numbers. It is float64 if `output` is, else float32.

    Raises:
        Unsupported: They are not, and the program is to give the reference's own bits.
    """
    sums = sums_of(node.range(left, len(weights)), weights)
    if sums is None:
        node.rounds_differently()
    kind = "float32" if sums is None else sums.exact
    held = node.hold(weights.astype(kind))
    given = "float32" if output is None else node.dtype(output).name
    wanted = {} if given != "float64" else {"dtype": given}
    name = node.emit(matrix.product, [left, held], None if output is None else [output], exact=kind, **wanted)
    if sums is not None and kind != "int64":
        node.prove_range(name, sums.range)
    return name
