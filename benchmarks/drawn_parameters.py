"""Random parameters of layers: numbers with divisors, lanes, datatypes."""

from __future__ import annotations

from math import ceil, log2
from random import Random

from brainsmith.rtl.cores.parallelism import divisors

IMAGE = (1, 8, 8)
"""Vectors of a frame, where they only set a counter's width."""


def between(random: Random, low: int, high: int) -> int:
    """Return a whole number, as likely in each octave."""
    return min(high, max(low, round(2 ** random.uniform(log2(low) - 0.4, log2(high) + 0.4))))


def sized(random: Random, low: int, high: int) -> int:
    """Return a number with several divisors, such as layers have channels."""
    return (
        between(random, max(1, low // 4), max(1, high // 4)) * 4
        if random.random() < 0.8
        else between(random, low, high)
    )


def lanes(random: Random, whole: int, most: int) -> int:
    """Return a divisor of a number that is not above a limit."""
    return random.choice([each for each in divisors(whole) if each <= max(most, 1)])


def kind(random: Random, low: int = 2, high: int = 8) -> str:
    """Return an integer datatype."""
    return random.choice(("INT", "UINT")) + str(random.randint(low, high))


def bits(name: str) -> int:
    """Return the bits of an integer datatype."""
    return {"BIPOLAR": 1, "BINARY": 1, "TERNARY": 2}.get(name) or int(name.lstrip("UINT"))


def sum_of(terms: int, *kinds: str) -> str:
    """Return a datatype for a sum of products."""
    signed = any(not each.startswith("U") for each in kinds)
    return ("INT" if signed else "UINT") + str(sum(map(bits, kinds)) + ceil(log2(max(terms, 2))) - signed + 1)
