"""When two arrays of a tensor differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from brainsmith.comparison.tensors import Difference, difference, is_on_grid, largest_error, tolerance_of

FLOATS = arrays.arrays(np.float32, st.sampled_from([(1, 3), (4, 2), (2, 2, 2)]), elements=st.floats(width=32))


@pytest.mark.parametrize(
    ("values", "integer", "allowed"),
    [
        ([1.0, -8.0], False, 0.0),
        ([0.5, -8.0], False, 8e-6),
        ([0.5, -8.0], True, 0.0),
        ([float(1 << 25), 0.0], False, (1 << 25) * 1e-6),
        ([0.5, np.inf], False, 0.5e-6),
        ([], False, 0.0),
    ],
)
def test_whole_numbers_must_be_equal_and_others_nearly(values, integer, allowed):
    array = np.asarray(values, np.float32)
    assert tolerance_of(array, array, 1e-6, integer) == pytest.approx(allowed, rel=1e-12)


@given(
    whole=st.lists(st.integers(1 - 2**20, 2**20 - 1), min_size=9, unique_by=abs),
    exponent=st.integers(-30, 30),
)
def test_integers_times_a_power_of_two_are_on_a_grid(whole, exponent):
    assert is_on_grid(np.ldexp(np.asarray(whole, np.float32), exponent).reshape(1, -1))


@given(
    whole=st.lists(st.integers(2**18, 2**20), min_size=3, max_size=50, unique=True),
    scale=st.floats(1e-3, 1e3).filter(
        lambda scale: not is_on_grid(np.asarray([scale] * 8) * np.arange(1, 9))
    ),
)
def test_products_that_were_rounded_are_not(whole, scale):
    products = np.asarray(whole, np.float64) * scale
    rounded = products.astype(np.float32)
    assert is_on_grid(rounded) <= bool((rounded == products).all())


def test_few_values_or_values_of_all_bits_are_no_evidence_of_a_grid():
    assert not is_on_grid(np.asarray([0.1, 0.2, 0.7], np.float32))
    assert not is_on_grid(np.asarray([(1 << 24) - 1.0, (1 << 24) - 3.0]))
    assert not is_on_grid(np.asarray([1e6, 1.0]))
    assert is_on_grid(np.asarray([1e6, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]))
    assert is_on_grid(np.asarray([0.0, np.inf, np.nan]))


def test_a_float_that_happens_to_be_whole_is_none_of_integers():
    expected, found = np.asarray([0.0, 1.0]), np.asarray([1e-12, 1.0])
    assert difference("t", expected, found, tolerance_of(expected, found, 1e-6, integer=False)) is None
    assert difference("t", expected, found, tolerance_of(expected, found, 1e-6, integer=True)).error == 1e-12


def test_integers_beyond_what_floats_hold_are_told_apart():
    expected, found = np.asarray([2**53 + 1]), np.asarray([2**53])
    assert difference("t", expected, found, 0.0).error == 1.0


@given(FLOATS)
def test_an_array_never_differs_from_itself(values):
    assert difference("t", values, values.copy(), 0.0) is None
    assert largest_error(values, values.copy()) == 0


@given(FLOATS, st.floats(width=32))
def test_what_is_changed_is_found(values, other):
    changed = values.copy()
    changed[-1].flat[0] = other
    found = difference("t", values, changed, 0.0)
    before = values[-1].flat[0]
    if before == other or (np.isnan(before) and np.isnan(other)):
        assert found is None
    else:
        assert (found.samples, found.index[0]) == (1, len(values) - 1)
        np.testing.assert_array_equal([found.expected, found.found], np.asarray([before, other], np.float32))


def test_a_difference_says_where_and_by_how_much():
    expected = np.asarray([[1.0, 2.0], [3.0, 4.0]], np.float32)
    found = np.asarray([[1.5, 2.0], [3.0, 1.0]], np.float32)
    assert difference("fc1", expected, found, 0.25) == Difference("fc1", "", 2, 3.0, (1, 1), 4.0, 1.0, 0.25)
    assert difference("fc1", expected, found, 3.0) is None


def test_another_shape_is_a_difference():
    found = difference("t", np.zeros((2, 3)), np.zeros((2, 4)), 1e9)
    assert (found.samples, found.error, found.index) == (2, np.inf, ())
