"""Products with constant weights, and their sums: zeros vanish, and what has the same inputs is built once."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from brainsmith.rtl.resource_models.circuit_sizes import distinct_functions
from brainsmith.rtl.synthesis.cells import Resources


class ConstantProduct(NamedTuple):
    """A product with a weight, on average of all values that it can have.

    Attributes:
        values: How many it can have.
        zeros: The share of 0 among them.
        taken: Bits of the other factor.
        bits: Of the product.
        held: Of them in a register, of one that is not 0: without the lowest ones that are always 0.
        luts: Of one that is not 0.
    """

    values: int
    zeros: float
    taken: int
    bits: int
    held: float
    luts: float


@cache
def constant_product(bits: int, whole: int, low: int, high: int) -> ConstantProduct:
    """Return a product with a weight of `low` to `high`.

    Args:
        bits: Of the other factor.
        whole: Of the product.
        low: The least weight.
        high: The greatest.
    """
    held, luts = [], []
    for weight in range(low, high + 1):
        if weight:
            factor = weight & -weight  # of two
            odd = abs(weight) // factor
            held.append(whole - (factor.bit_length() - 1))
            alike = odd == 1 and weight > 0
            luts.append(
                0 if alike else bits + (odd.bit_length() if odd > 1 else 0) - 1
            )  # the lowest bit is the value's
    values = high + 1 - low
    return ConstantProduct(
        values, 1 - len(held) / values, bits, whole, sum(held) / len(held), sum(luts) / len(luts)
    )


def constant_sums(one: ConstantProduct, count: int, lanes: int) -> Resources:
    """Return the products of `count` values with constants and their sum, each with a register, in lanes of equal values.

    Args:
        one: A product.
        count: Of values.
        lanes: With constants of their own.
    """
    luts = (1 - one.zeros) * one.luts * _different(one.values, lanes)  # of a value
    luts = count * float(distinct_functions(2**one.taken, luts))
    registers = count * (1 - one.zeros) * one.held * _different(one.values, lanes)
    bits, zeros, values = one.bits, one.zeros, float(one.values)
    while count > 1:
        pairs, bits, values = count // 2, bits + 1, min(values * values, 1e9)
        apart = _different(values, lanes)
        luts += pairs * (1 - zeros) ** 2 * bits * apart
        registers += (pairs * (1 - zeros**2) + count % 2) * bits * apart
        count, zeros = -(-count // 2), zeros**2
    return Resources(lut=round(luts), ff=round(registers))


def _different(values: float, lanes: int) -> float:
    """Return how many of the lanes have something of their own, where each is one of so many values."""
    return lanes * 1.0 if values >= 1e9 else values * (1 - (1 - 1 / values) ** lanes)
