"""The smallest integer datatype of a range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qonnx.core.datatype import DataType

from brainsmith.rtl.cores.integers import integer_bits, integer_datatype


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [
        (0, 0, "BINARY"), (0, 1, "BINARY"), (0, 2, "UINT2"), (3, 256, "UINT9"), (-1, 0, "INT1"), (-1, 1, "INT2"),
        (-8, 7, "INT4"), (-8, 8, "INT5"), (-9, 0, "INT5"), (-9, -5, "INT5"), (-8, 37, "INT7"),
    ],
)  # fmt: skip
def test_examples(low, high, name):
    assert integer_datatype(low, high) == DataType[name]


@given(ends=st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=2))
def test_it_holds_the_range_and_one_bit_less_does_not(ends):
    low, high = sorted(ends)
    found = integer_datatype(low, high)
    assert found.bitwidth() == integer_bits(low, high)
    assert found.min() <= low
    assert high <= found.max()
    if found.bitwidth() > 1:
        narrower = DataType[f"{'INT' if low < 0 else 'UINT'}{found.bitwidth() - 1}"]
        assert low < narrower.min() or narrower.max() < high
