"""Ranges of what is computed of whole numbers: exactly what combinations of the numbers reach, at any size."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brainsmith.graph.integer_range import IntegerRange, range_of_values, within
from brainsmith.graph.range_rules import TRUTHS, range_of

SMALL = st.tuples(st.integers(-9, 9), st.integers(0, 6)).map(lambda drawn: (drawn[0], sum(drawn)))
LARGE = st.tuples(st.integers(-(2**70), 2**70), st.integers(0, 2**66)).map(
    lambda drawn: (drawn[0], sum(drawn))
)

OPERATORS = {
    "Abs": abs, "Add": lambda x, y: x + y, "Ceil": int, "Concat": None, "Floor": int, "Max": max, "Min": min,
    "Mul": lambda x, y: x * y, "Neg": lambda x: -x, "Relu": lambda x: max(x, 0), "Round": int,
    "Sign": lambda x: (x > 0) - (x < 0), "Sub": lambda x, y: x - y, "Sum": lambda x, y: x + y, "Where": None,
}  # fmt: skip
"""What each computes of Python's integers; None gives either of two."""

OF_ONE = ("Abs", "Ceil", "Floor", "Neg", "Relu", "Round", "Sign")


def result_of(name, spans, numbers):
    """Return the least and the greatest result of combinations of some numbers of each span."""
    if name in ("Concat", "Where"):
        return min(low for low, _ in spans), max(high for _, high in spans)
    reached = [OPERATORS[name](*each) for each in product(*numbers)]
    return min(reached), max(reached)


@given(st.sampled_from(sorted(OPERATORS)), SMALL, SMALL)
def test_the_range_of_a_result_is_what_enumeration_finds(name, left, right):
    spans = [left] if name in OF_ONE else [left, right]
    ranges = [within(*span) for span in spans]
    found = range_of(name, [within(0, 1), *ranges] if name == "Where" else ranges)
    assert found.ends == result_of(name, spans, [range(low, high + 1) for low, high in spans])


@example("Where", (0, (1 << 63) + 1), (0, 0))
@given(st.sampled_from(sorted(OPERATORS)), LARGE, LARGE)
def test_no_size_overflows(name, left, right):
    spans = [left] if name in OF_ONE else [left, right]
    ranges = [within(*span) for span in spans]
    found = range_of(name, [within(0, 1), *ranges] if name == "Where" else ranges)
    # Each of them has its extremes at the ends of its inputs, or at 0.
    numbers = [[*span, *([0] if span[0] <= 0 <= span[1] else [])] for span in spans]
    assert found.ends == result_of(name, spans, numbers)
    assert found.magnitude == max(map(abs, found.ends))


@given(st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=5), st.integers(0, 3), st.integers(-5, 5))
def test_each_channel_has_a_range_of_its_own(pairs, bits, number):
    left, right = (IntegerRange(*np.asarray(spans).T) for spans in zip(*pairs, strict=True))
    for name in ("Add", "Concat", "Max", "Min", "Mul", "Sub"):
        found = range_of(name, [left, right])
        alone = [range_of(name, [within(*one), within(*other)]).ends for one, other in pairs]
        assert list(zip(*found, strict=True)) == alone
    assert list(zip(*left.times(number), strict=True)) == [
        within(*one).times(number).ends for one, _ in pairs
    ]
    assert list(zip(*left.holding(number), strict=True)) == [
        (min(low, number), max(high, number)) for (low, high), _ in pairs
    ]
    assert list(zip(*left.shifted_right(bits), strict=True)) == [
        (low >> bits, high >> bits) for (low, high), _ in pairs
    ]
    assert left.of_all().ends == left.ends
    order = np.arange(len(pairs))[::-1]
    assert list(zip(*left.at(order), strict=True)) == [one for one, _ in pairs[::-1]]
    assert within(2, 3).at(order).ends == (2, 3)


def test_comparisons_give_0_or_1_and_others_are_not_known():
    assert {range_of(name, [None, None]).ends for name in TRUTHS} == {(0, 1)}
    assert range_of("Add", [within(0, 1), None]) is None
    assert range_of("Div", [within(0, 1), within(1, 2)]) is None
    assert range_of("Where", [None, within(0, 1), within(5, 6)]).ends == (0, 6)
    assert range_of("Sum", [within(0, 1)] * 3).ends == (0, 3)


@pytest.mark.parametrize(
    ("dtype", "held", "beyond"),
    [
        (np.int8, (-128, 127), (0, 128)),
        (np.uint8, (0, 255), (-1, 1)),
        (np.bool_, (0, 1), (0, 2)),
        (np.float16, (-2048, 2048), (0, 2049)),
        (np.int64, (-(2**63), 2**63 - 1), (0, 2**63)),
    ],
)
def test_a_type_holds_a_range_or_does_not(dtype, held, beyond):
    assert within(*held).fits(np.dtype(dtype))
    assert not within(*beyond).fits(np.dtype(dtype))
    assert within(*beyond).fits(np.dtype(np.float32))


def test_the_range_of_values_is_that_of_whole_numbers():
    assert range_of_values(np.asarray([3.0, -2.0])).ends == (-2, 3)
    assert range_of_values(np.asarray([2**64 - 1], np.uint64)).ends == (2**64 - 1, 2**64 - 1)
    for others in ([0.5], [np.nan], [np.inf], [], ["one"]):
        assert range_of_values(np.asarray(others)) is None


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 6), st.floats(0, 1), st.booleans())
def test_the_ends_of_sums_are_reached_term_by_term(seed, terms, sums, filled, by_channel):
    random = np.random.default_rng(seed)
    weights = random.integers(-9, 10, (terms, sums)) * (random.random((terms, sums)) < filled)
    low = random.integers(-20, 5, terms if by_channel else 1)
    high = low + random.integers(0, 30, low.shape)
    found = IntegerRange(low, high).sums(weights)
    for at in range(sums):
        ends = [
            [weight * end[row % len(low)] for end in (low, high)] for row, weight in enumerate(weights[:, at])
        ]
        assert found.low[at] == sum(map(min, ends))
        assert found.high[at] == sum(map(max, ends))
    assert found.low.dtype == found.high.dtype == np.int64
