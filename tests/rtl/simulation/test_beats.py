"""Packing and unpacking are each other's reverse, and the first lane lies in the lowest bits."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.simulation.beats import MAX_BITS, pack, unpack


@given(st.data(), st.integers(1, MAX_BITS), st.integers(1, 70), st.booleans())
def test_unpack_reverses_pack(data, bits, lanes, signed):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    rows = data.draw(
        st.lists(st.lists(st.integers(low, high), min_size=lanes, max_size=lanes), min_size=1, max_size=3)
    )
    values = np.array(rows, np.int64)
    words = pack(values, bits)
    assert words.shape == (len(rows), (bits * lanes + 7) // 8)
    np.testing.assert_array_equal(unpack(words, bits, lanes, signed), values)
    whole = [sum((value % (1 << bits)) << (bits * lane) for lane, value in enumerate(row)) for row in rows]
    assert [int.from_bytes(word.tobytes(), "little") for word in words] == whole


@pytest.mark.parametrize("signed", [False, True])
def test_many_beats_need_little_more_memory_than_they_are(signed):
    count = 200_000
    values = np.random.default_rng(1).integers(-128 if signed else 0, 128, (count, 4), np.int8)
    tracemalloc.start()
    words = pack(values, 8, 40)
    packed = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    again = unpack(words, 8, 4, signed)
    unpacked = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(again, values)
    assert packed < words.nbytes + 8_000_000
    assert unpacked < words.nbytes + again.nbytes + 8_000_000


def test_floats_that_are_whole_are_taken():
    np.testing.assert_array_equal(pack(np.array([[1.0, -1.0]], np.float32), 4), [[0xF1]])


@pytest.mark.parametrize(
    ("values", "bits", "width", "message"),
    [
        ([[0.5]], 4, None, "values must be whole numbers"),
        ([[16]], 4, None, "values from 16 to 16 do not fit 4 bits"),
        ([[-9, 3]], 4, None, "values from -9 to 3 do not fit 4 bits"),
        ([[1, 1, 1]], 4, 8, "3 lanes of 4 bits do not fit a word of 8 bits"),
        ([[1]], 63, None, "bits must be from 1 to 62, not 63"),
    ],
)
def test_what_does_not_fit_is_refused(values, bits, width, message):
    with pytest.raises(ValueError) as caught:
        pack(np.array(values), bits, width)
    assert str(caught.value) == message


def test_too_short_words_are_refused():
    with pytest.raises(ValueError, match=r"^3 lanes of 4 bits are not in words of 8 bits$"):
        unpack(np.zeros((2, 1), np.uint8), 4, 3, signed=False)
