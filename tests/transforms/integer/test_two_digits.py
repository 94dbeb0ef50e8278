"""A sum in two digits passes the thresholds that it passes as one number, for every pair of digits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.transforms.integer.threshold_rows import ThresholdRows
from brainsmith.transforms.integer.two_digits import MOST_STEPS, joined_digits

SPAN = st.tuples(st.integers(-40, 40), st.integers(0, 60)).map(lambda ends: (ends[0], sum(ends)))
ROW = st.lists(st.integers(-1500, 1500), min_size=3, max_size=3).map(sorted)
CHANNEL = st.tuples(ROW, st.integers(0, 5), SPAN, SPAN)


@settings(deadline=None, max_examples=100)
@given(st.lists(CHANNEL, min_size=1, max_size=3), st.integers(-4, 4))
def test_every_pair_of_digits_has_the_level_of_their_sum(channels, least):
    rows, bits, upper, lower = zip(*channels, strict=True)
    ends = [IntegerRange(*np.asarray(spans).T) for spans in (upper, lower)]
    one = np.ones(1, np.int64)
    joined = joined_digits(ThresholdRows(np.asarray(rows), one, least), *ends, np.asarray(bits))
    for at, (row, shift, above, below) in enumerate(channels):
        numbers = np.arange(above[0], above[1] + 1)[:, None], np.arange(below[0], below[1] + 1)[None]
        expected = least + np.searchsorted(row, (numbers[0] << shift) + numbers[1], "right")
        count = np.searchsorted(joined.counted.rows[at], numbers[0], "right")
        found = np.searchsorted(joined.levels.rows[at], (count << shift) + numbers[1], "right")
        np.testing.assert_array_equal(least + found, expected)


def test_an_upper_digit_with_too_many_steps_is_not_joined():
    span = IntegerRange(np.asarray([0]), np.asarray([4 * MOST_STEPS]))
    rows = ThresholdRows(np.asarray([[MOST_STEPS << 2]]), np.ones(1, np.int64), 0)
    few, many = (
        joined_digits(rows, span, IntegerRange(np.asarray([0]), np.asarray([high])), np.asarray([1]))
        for high in (2, 2 * MOST_STEPS + 2)
    )
    assert few is not None
    assert few.counted.rows.tolist() == [[2 * MOST_STEPS - 1, 2 * MOST_STEPS]]
    assert many is None
