"""The datatype of a sum of products: it holds every sum, and no narrower one does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qonnx.core.datatype import DataType

from brainsmith.kernels.datatypes import product_datatype

NAMES = [
    "BINARY",
    "BIPOLAR",
    "TERNARY",
    *(f"{kind}{bits}" for kind in ("INT", "UINT") for bits in range(2, 9)),
]


@given(lhs=st.sampled_from(NAMES), rhs=st.sampled_from(NAMES), depth=st.integers(1, 1024))
def test_it_is_the_narrowest_that_holds_every_sum(lhs, rhs, depth):
    one, other = DataType[lhs], DataType[rhs]
    found = product_datatype(one, other, depth)
    sums = [depth * a * b for a in (one.min(), one.max()) for b in (other.min(), other.max())]
    assert all(found.allowed(value) for value in sums)
    assert found.signed() == (min(sums) < 0)
    if found.bitwidth() > 1:
        narrower = DataType[f"{'INT' if found.signed() else 'UINT'}{found.bitwidth() - 1}"]
        assert not all(narrower.allowed(value) for value in sums)


@pytest.mark.parametrize(
    ("lhs", "rhs", "depth", "expected"),
    [("INT4", "BINARY", 1, "INT4"), ("BINARY", "BINARY", 1, "BINARY"), ("INT8", "INT8", 16, "INT20")],
)
def test_its_bounds(lhs, rhs, depth, expected):
    assert product_datatype(DataType[lhs], DataType[rhs], depth) == DataType[expected]
