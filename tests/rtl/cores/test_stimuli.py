"""The frames of a core's test: both ends, every value where that is possible, and random ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qonnx.core.datatype import DataType

from brainsmith.rtl.cores.stimuli import ENDS, enough, stimuli

KINDS = ("INT8", "UINT4", "INT3", "BIPOLAR", "TERNARY", "UINT16", "INT32", "BINARY")


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 7)), min_size=1, max_size=3),
    st.integers(3, 70),
    st.integers(0, 5),
)
def test_every_value_is_one_of_the_datatype_and_the_same_seed_gives_the_same(inputs, count, seed):
    shapes = [((1, size), kind) for kind, size in inputs]
    frames = stimuli(seed, shapes, count)
    for (shape, kind), values in zip(shapes, frames, strict=True):
        assert values.shape == (count, *shape)
        assert all(DataType[kind].allowed(value) for value in np.unique(values))
    again = stimuli(seed, shapes, count)
    assert all(np.array_equal(a, b) for a, b in zip(frames, again, strict=True))


@pytest.mark.parametrize("kind", ["INT8", "UINT4", "TERNARY", "BIPOLAR"])
def test_64_frames_of_12_values_have_each_value_of_8_bits_and_whole_frames_of_both_ends(kind):
    datatype = DataType[kind]
    low, high = int(datatype.min()), int(datatype.max())
    values = [value for value in range(low, high + 1) if datatype.allowed(value)]
    first, second = stimuli(0, [((1, 12), kind)] * 2, 64)
    for frames in (first, second):
        assert sorted(set(frames.ravel())) == values
        assert set(frames[0].ravel()) == {low}
        assert set(frames[1].ravel()) == {high}
        assert set(frames[2].ravel()) == {low, high}
    assert not np.array_equal(first[2], second[2])
    assert not np.array_equal(first[ENDS], second[ENDS])  # the first of the values in order


def test_of_a_wide_range_the_ends_and_the_values_about_0_are_there():
    (frames,) = stimuli(0, [((1, 4), "INT16")], 64)
    assert {-32768, -32767, -2, -1, 0, 1, 2, 32766, 32767} <= set(frames.ravel())


def test_a_golden_function_that_is_wrong_for_one_value_alone_is_found_with_any_seed():
    for seed in range(20):
        a, b = stimuli(seed, [((1, 12), "INT8"), ((1, 12), "INT8")], 64)
        assert ((a + b) != (a + b + (a == 5))).any()


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 20)), min_size=1, max_size=2))
def test_enough_frames_have_every_value_of_datatypes_of_up_to_8_bits(inputs):
    shapes = [((1, size), kind) for kind, size in inputs]
    count = enough(shapes)
    assert count >= 64
    for (_, kind), frames in zip(shapes, stimuli(0, shapes, count), strict=True):
        datatype = DataType[kind]
        if datatype.bitwidth() <= 8:
            low, high = int(datatype.min()), int(datatype.max())
            assert set(np.unique(frames)) == {v for v in range(low, high + 1) if datatype.allowed(v)}


def test_small_frames_take_more_of_them():
    assert [enough([((1, size), "INT8")]) for size in (1, 2, 7, 8, 100)] == [512, 256, 74, 64, 64]
    assert enough([((1, 1), "UINT16")]) == 64
    assert enough([((1, 8), "INT8"), ((1, 1), "UINT7")]) == 256
