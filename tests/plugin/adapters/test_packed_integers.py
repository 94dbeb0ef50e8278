"""Integers packed at once are the words that FINN packs one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from qonnx.core.datatype import DataType

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.plugin.adapters.packed_integers import packed

prepare_finn()

from finn.util.data_packing import pack_innermost_dim_as_hex_string  # noqa: E402

ONE_BY_ONE = pack_innermost_dim_as_hex_string.__wrapped__
KINDS = ["BINARY", "BIPOLAR", "TERNARY", "INT2", "UINT3", "INT4", "INT7", "UINT8", "INT16", "UINT24"]


@given(st.data(), st.sampled_from(KINDS), st.integers(0, 40), st.booleans(), st.sampled_from(["", "0x"]))
def test_the_words_are_those_of_finn(data, kind, spare, backwards, prefix):
    datatype = DataType[kind]
    low, high = int(datatype.min()), int(datatype.max())
    value = st.sampled_from([-1, 1]) if kind == "BIPOLAR" else st.integers(low, high)
    values = data.draw(arrays(np.float32, array_shapes(max_dims=4, max_side=5), elements=value))
    bits = -(-(values.shape[-1] * datatype.bitwidth() + spare) // 4) * 4
    wanted = ONE_BY_ONE(values, datatype, bits, backwards, prefix)
    found = packed(values, datatype, bits, backwards, prefix)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(
        pack_innermost_dim_as_hex_string(values, datatype, bits, backwards, prefix), wanted
    )


def test_an_example():
    assert packed([3, -1], DataType["INT4"], 12, False, "") == "03f"
    assert packed([[3, -1]], DataType["INT4"], 12, True, "0x").tolist() == ["0x0f3"]


@pytest.mark.parametrize(
    ("values", "kind", "bits"),
    [
        ([0.5], "INT4", 8),
        ([8], "INT4", 8),
        ([0], "BIPOLAR", 8),
        ([1.5], "FIXED<8,4>", 8),
        ([1], "FLOAT32", 32),
        ([1, 1], "INT4", 4),
    ],
)
def test_what_is_no_word_of_integers_is_left_to_finn(values, kind, bits):
    assert packed(np.asarray(values, np.float32), DataType[kind], bits, False, "") is None


def test_integers_beyond_float32_are_exact_where_they_come_in_float64():
    values = np.asarray([[2.0**40 - 1], [-(2.0**40)], [2.0**24 + 1], [-1.0]])
    words = pack_innermost_dim_as_hex_string(values, DataType["INT48"], 48, prefix="")
    assert words.tolist() == ["00ffffffffff", "ff0000000000", "000001000001", "ffffffffffff"]
    assert packed(values, DataType["INT54"], 56, False, "") is None


@given(st.data(), st.integers(25, 53))
def test_words_of_wide_integers_are_their_digits(data, bits):
    numbers = data.draw(st.lists(st.integers(-(1 << bits - 1), (1 << bits - 1) - 1), min_size=1, max_size=5))
    width = -(-bits // 4) * 4
    words = packed(np.asarray(numbers, np.float64)[:, None], DataType[f"INT{bits}"], width, False, "")
    assert [int(word, 16) for word in words] == [number & (1 << bits) - 1 for number in numbers]
