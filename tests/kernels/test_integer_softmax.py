"""Softmax by integers against the float function: the error that is stated, and that all fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.kernels.integer_softmax import IntegerSoftmax


@st.composite
def arithmetics(draw):
    bits, signed = draw(st.integers(1, 12)), draw(st.booleans())
    low = -(1 << (bits - 1)) if signed else 0
    fraction = draw(st.integers(1, 12))
    scale = draw(st.floats(0.001, 3.0))
    spare = draw(st.integers(0, 2))
    return IntegerSoftmax(
        draw(st.integers(1, 300)), low, low + (1 << bits) - 1, scale, fraction, fraction + spare
    )


@settings(max_examples=200, deadline=None)
@given(arithmetic=arithmetics(), seed=st.integers(0, 1000))
def test_the_error_is_within_the_bound(arithmetic, seed):
    rng = np.random.default_rng(seed)
    low, high, size = arithmetic.low, arithmetic.high, arithmetic.size
    narrow = np.clip(rng.integers(low, high + 1, (8, 1)) + rng.integers(0, 3, (8, size)), low, high)
    rows = np.concatenate([rng.integers(low, high + 1, (8, size)), narrow, np.full((1, size), high)])
    assert arithmetic.problem == ""
    found = arithmetic.compute(rows)
    assert found.max() < 1 << arithmetic.output_bits
    powers = np.exp(arithmetic.scale * (rows - rows.max(-1, keepdims=True)))
    real = powers / powers.sum(-1, keepdims=True) * 2**arithmetic.fraction_bits
    assert np.abs(found - real).max() <= arithmetic.error + 1e-6


@given(arithmetic=arithmetics())
def test_differences_that_the_table_lacks_have_no_power(arithmetic):
    table = arithmetic.table
    assert (table[0], len(table)) == (1 << arithmetic.power_fraction, 1 << arithmetic.address_bits)
    assert table[-1] == 0 or len(table) > arithmetic.high - arithmetic.low
    assert sum(table[:1]) * arithmetic.size < 1 << arithmetic.sum_bits


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"scale": -1.0}, "scale must be more than 0 and fraction_bits 1 or more"),
        ({"output_bits": 7}, "its output must have 8 to 24 bits, not 7"),
        ({"low": 0, "high": (1 << 25) - 1}, "its input has more than 24 bits"),
        (
            {"low": 0, "high": (1 << 16) - 1, "scale": 1e-4},
            "its table of powers would have more than 16384 entries at scale 0.0001: "
            "quantise its input to fewer bits",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changed, problem):
    fields = {"size": 8, "low": -128, "high": 127, "scale": 0.1, "fraction_bits": 8, "output_bits": 8}
    assert IntegerSoftmax(**fields).problem == ""
    assert IntegerSoftmax(**(fields | changed)).problem == problem
