"""The share of a figure's variance that goes with a choice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.exploration.importance import share_of


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-1e6, 1e6)), max_size=40))
def test_it_is_a_share(points):
    chosen, values = (
        np.array([one for one, _ in points], np.int32),
        np.array([each for _, each in points], float),
    )
    assert 0 <= share_of(chosen, values) <= 1


def test_what_decides_has_all_and_what_does_not_matter_has_nothing():
    chosen, other = np.repeat([0, 1, 2], 3).astype(np.int32), np.tile([0, 1, 2], 3).astype(np.int32)
    values = 5.0 * chosen
    assert share_of(chosen, values) == pytest.approx(1)
    assert share_of(other, values) == pytest.approx(0)
    assert share_of(chosen, values + 5 * other) == pytest.approx(0.5)
    assert share_of(chosen, np.ones(9)) == 0
    assert share_of(other, np.where(other == 0, 3.9e-293, 0.0)) == pytest.approx(1)  # whose square is 0
