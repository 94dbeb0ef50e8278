"""Which depths are the same hardware; what it holds is measured in FINN's FIFO by test_adjustable_fifo."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.sizing.fifo_hardware import depth_of, held, next_smaller

depths = st.one_of(st.integers(2, 300), st.integers(250, 5000), st.integers(2, 1 << 18))
bits = st.sampled_from([1, 4, 5, 8, 16, 64])


@pytest.mark.parametrize(
    ("depth", "width", "beats"),
    [
        (2, 8, 5), (5, 8, 5), (6, 8, 6), (257, 8, 257), (258, 8, 514), (513, 8, 514), (514, 8, 516), (2028, 8, 2050),
        (2029, 8, 2065), (2066, 8, 4113), (4113, 8, 4113), (4114, 8, 4115), (1000, 4, 1000),
    ],
)  # fmt: skip
def test_what_finns_fifo_holds(depth, width, beats):
    assert held(depth, width) == beats


@given(depth=depths, width=bits)
def test_a_fifo_holds_its_depth_and_a_deeper_one_no_less(depth, width):
    assert depth <= held(depth, width) <= held(depth + 1, width)


@given(beats=depths, width=bits)
def test_the_smallest_fifo_for_some_beats_is_the_smallest(beats, width):
    depth = depth_of(beats, width)
    assert held(depth, width) >= beats
    assert held(depth + 1, width) > held(depth, width)
    smaller = next_smaller(depth, width)
    assert (smaller == 0) == (held(depth, width) == 5)
    if smaller:
        assert held(smaller, width) < min(beats, held(depth, width))
        assert held(smaller + 1, width) == held(depth, width)
