"""Whole factors decide the level of every combination of integers, or are off by no more than is said."""

from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from brainsmith.graph.integer_range import within
from brainsmith.transforms.graph_view import GraphView
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.scaled_sum import Term, row_of
from brainsmith.transforms.integer.sums_of_scales import sum_of
from brainsmith.transforms.integer.whole_factors import (
    common_units,
    deciding_factors,
    differing,
    error_bound,
    float_steps,
    is_exact,
)
from brainsmith.transforms.lattice.staircases import quantiser_of
from tests.steps.conftest import QONNX, Graph

SCALES = st.floats(0.0625, 2.0, width=32)
MODES = st.sampled_from(("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"))


def term(scale, low, high):
    return IntegerTensor("n", (1, 1), within(low, high), np.asarray([float(np.float32(scale))]), np.zeros(1))


def staircase(scale, bits, mode):
    graph = Graph(1, 1)
    graph.node("Quant", scale, 0.0, float(bits), domain=QONNX, signed=1, narrow=0, rounding_mode=mode)
    model = graph.model(1, 1, datatype="FLOAT32")
    return quantiser_of(GraphView(model), model.graph.node[0])


def ranges(count, most):
    ends = st.tuples(st.integers(-most, 0), st.integers(1, most))
    return st.lists(ends, min_size=count, max_size=count)


def combinations(ends):
    return [range(low, high + 1) for low, high in ends]


def network_level(scales, numbers, stairs):
    """Add in float32, one term after the other, as the network does."""
    total = np.float32(0)
    for at, (scale, number) in enumerate(zip(scales, numbers, strict=True)):
        part = np.float32(np.float32(scale)) * np.float32(number)
        total = part if at == 0 else np.float32(total + part)
    return int(stairs.levels(np.asarray([[total]], np.float32))[0, 0])


def decides(scales, ends, stairs, factors):
    """Tell whether the levels are a function of the weighted sum that never falls, by trying all."""
    levels = {}
    for numbers in product(*combinations(ends)):
        total = sum(factor * number for factor, number in zip(factors, numbers, strict=True))
        level = network_level(scales, numbers, stairs)
        if levels.setdefault(total, level) != level:
            return False
    in_order = [levels[total] for total in sorted(levels)]
    return in_order == sorted(in_order)


@settings(deadline=None, max_examples=40)
@given(st.data(), st.integers(2, 3), MODES)
def test_deciding_factors_give_the_level_of_every_combination(data, count, mode):
    scales = data.draw(st.lists(SCALES, min_size=count, max_size=count))
    ends = data.draw(ranges(count, 5 if count == 2 else 2))
    stairs = staircase(data.draw(SCALES), data.draw(st.integers(2, 3)), mode)
    total = sum_of([term(scale, *each) for scale, each in zip(scales, ends, strict=True)], lambda _: None)
    found = deciding_factors(total, stairs)
    assume(found is not None)
    (factors,), rows = found
    for numbers in product(*combinations(ends)):
        summed = sum(int(factor) * number for factor, number in zip(factors, numbers, strict=True))
        got = rows.low + int((rows.rows[0] <= summed * rows.signs[0]).sum())
        assert got == network_level(scales, numbers, stairs)


@settings(deadline=None, max_examples=15)
@given(SCALES, SCALES, ranges(2, 3), SCALES)
def test_no_smaller_factors_of_two_scales_decide_every_level(first, second, ends, step):
    scales, stairs = (first, second), staircase(step, 3, "ROUND")
    total = sum_of([term(scale, *each) for scale, each in zip(scales, ends, strict=True)], lambda _: None)
    found = deciding_factors(total, stairs)
    assume(found is not None)
    most = [int(factor) for factor in found[0][0]]
    for factors in product(*(range(1, factor + 1) for factor in most)):
        assert decides(scales, ends, stairs, factors) == (list(factors) == most) or gcd(*factors) > 1


@settings(deadline=None, max_examples=30)
@given(st.data(), st.integers(2, 3))
def test_the_closest_factors_are_off_by_no_more_than_is_said(data, count):
    scales = data.draw(st.lists(SCALES, min_size=count, max_size=count))
    ends = data.draw(ranges(count, 5 if count == 2 else 2))
    stairs = staircase(data.draw(SCALES), 4, "ROUND")
    total = sum_of([term(scale, *each) for scale, each in zip(scales, ends, strict=True)], lambda _: None)
    (unit,) = common_units(total.rows, exact=False)
    bound = error_bound(total.rows[0], unit)
    steps = float_steps(total.chain, stairs)
    share, most = differing(total, [unit], steps, total.chain.direction, 64)
    assert 0 <= share <= 1
    for numbers in product(*combinations(ends)):
        exact = sum(Fraction(float(np.float32(scale))) * n for scale, n in zip(scales, numbers, strict=True))
        near = unit.unit * sum(int(f) * n for f, n in zip(unit.factors, numbers, strict=True))
        assert abs(float(exact) - near) <= bound + 1e-9
        near_level = int(stairs.levels(np.asarray([[near]], np.float32))[0, 0])
        assert abs(near_level - network_level(scales, numbers, stairs)) <= most


def test_scales_that_are_multiples_but_for_rounding_have_exact_units():
    scales = [np.float32(0.1), np.float32(0.3), np.float32(0.7)]
    total = sum_of([term(scale, 0, 100) for scale in scales], lambda _: None)
    (unit,) = common_units(total.rows, exact=True)
    assert unit.factors.tolist() == [1, 3, 7]
    other = sum_of([term(scale, 0, 100) for scale in (0.1, 0.28284271, 0.7)], lambda _: None)
    assert common_units(other.rows, exact=True) is None


def dyadic_row(scales, ends):
    one = np.ones(1, np.int64)
    terms = [Term(scale, one, within(*span)) for scale, span in zip(scales, ends, strict=True)]
    return row_of(terms, np.zeros(len(terms)), 0)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9000), st.integers(-8, 8)), min_size=2, max_size=2),
    ranges(2, 6),
)
@example([(4097, -12), (1, 0)], [(-3, 3), (-3, 3)])
def test_where_float32_rounds_no_sum_factors_are_exact_or_there_are_none(parts, ends):
    scales = [number * 2.0**power for number, power in parts]
    row = dyadic_row(scales, ends)
    if is_exact(row):
        for numbers in product(*combinations(ends)):
            exact = sum(Fraction(scale) * number for scale, number in zip(scales, numbers, strict=True))
            assert Fraction(float(np.float32(float(exact)))) == exact
        for unit in common_units([row], exact=True) or ():
            worth = {
                Fraction(scale) / int(factor) for scale, factor in zip(scales, unit.factors, strict=True)
            }
            assert len(worth) == 1


def test_factors_near_exact_scales_are_not_taken_for_them():
    row = dyadic_row([4097 / 4096, 1.0], [(-3, 3), (-3, 3)])
    assert is_exact(row)
    assert common_units([row], exact=True) is None
    rounded = dyadic_row([4097 / 4096 * (1 + 2.0**-23), 1.0], [(-3, 3), (-3, 3)])
    assert not is_exact(rounded)
    assert common_units([rounded], exact=True) is not None
