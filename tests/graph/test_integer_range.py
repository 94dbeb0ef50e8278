"""The range of sums: what the ends of its terms allow, whether few or all of the weights are 0."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.graph.integer_range import IntegerRange


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
