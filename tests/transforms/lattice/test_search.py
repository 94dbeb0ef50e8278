"""Where levels are reached, found by bisection, is where enumeration finds it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.transforms.lattice.search import find_steps


@st.composite
def staircases(draw):
    """Give the least number, and the levels of it and those above it, of some channels: they do not fall."""
    channels, width = draw(st.integers(1, 3)), draw(st.integers(1, 12))
    low = draw(st.lists(st.integers(-(2**40), 2**40), min_size=channels, max_size=channels))
    steps = draw(st.lists(st.integers(0, 3), min_size=channels * width, max_size=channels * width))
    return np.asarray(low), np.cumsum(np.reshape(steps, (channels, width)), axis=1)


@given(staircases(), st.integers(1, 40), st.booleans())
def test_each_level_is_reached_where_enumeration_finds_it(staircase, most, floats):
    low, table = staircase
    wanted = np.arange(1, most + 1)
    width = table.shape[1]

    def levels(numbers):
        found = np.take_along_axis(table, numbers - low[:, None], axis=1)
        return found.astype(np.float32) if floats else found

    found = find_steps(levels, wanted, low, low + width - 1, len(low))
    enumerated = [[int((row < level).sum()) for level in wanted] for row in table]
    np.testing.assert_array_equal(found - low[:, None], enumerated)
