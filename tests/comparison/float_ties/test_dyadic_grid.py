from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.comparison.float_ties.dyadic_grid import UNKNOWN, DyadicGrid, grid_of

floats = st.floats(-(2.0**20), 2.0**20, width=32, allow_subnormal=False).filter(
    lambda x: not 0 < abs(x) < 2.0**-60
)


@given(st.lists(floats, min_size=1, max_size=6))
def test_a_constant_s_values_are_multiples_of_its_step(values):
    grid = grid_of(np.asarray(values, np.float32))
    if grid is UNKNOWN:
        return
    assert all((Fraction(value) / Fraction(grid.step)).denominator == 1 for value in values)
    assert max(map(abs, values)) <= grid.most


@given(st.lists(floats, min_size=1, max_size=3), st.lists(floats, min_size=1, max_size=3))
def test_float32_computes_what_a_known_grid_holds_without_rounding(left, right):
    one, other = grid_of(np.asarray(left)), grid_of(np.asarray(right))
    for first in left:
        for second in right:
            if one.plus(other).is_exact:
                assert Fraction(float(np.float32(first) + np.float32(second))) == Fraction(first) + Fraction(
                    second
                )
            if one.times(other).is_exact:
                assert Fraction(float(np.float32(first) * np.float32(second))) == Fraction(first) * Fraction(
                    second
                )


@pytest.mark.parametrize(
    ("values", "step", "most"),
    [
        ([0.75, -3.0], 0.25, 3.0),
        ([0.0], 1.0, 0.0),
        ([6.0, 10.0], 2.0, 10.0),
        ([0.1], 2.0**-27, float(np.float32(0.1))),
    ],
)
def test_the_step_is_the_last_bit_that_is_used(values, step, most):
    assert grid_of(np.asarray(values, np.float32)) == DyadicGrid(step, most)


def test_a_value_that_float32_does_not_hold_has_no_grid():
    assert grid_of(1 / 3) == grid_of([1.0, 2.0**-30]) == grid_of(np.inf) == UNKNOWN
    assert not UNKNOWN.is_exact
