"""Layer normalisation by integers against the float function: the error that is stated, and that all fits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.execution.program.functions.whole_rows import inverse_roots
from brainsmith.kernels.integer_layer_norm import IntegerLayerNorm, output_bits_for


@st.composite
def arithmetics(draw):
    bits, signed = draw(st.integers(2, 16)), draw(st.booleans())
    size, fraction = draw(st.integers(1, 300)), draw(st.integers(1, 12))
    low = -(1 << (bits - 1)) if signed else 0
    epsilon = draw(st.sampled_from([0.0, 1e-5, 0.02, 1.0, 300.0, 1e4]))
    return IntegerLayerNorm(
        size, low, low + (1 << bits) - 1, fraction, output_bits_for(size, fraction), epsilon
    )


def rows_of(arithmetic, seed):
    """Return rows of the whole range, of a few neighbouring values, of extremes, and of one value."""
    rng = np.random.default_rng(seed)
    low, high, size = arithmetic.low, arithmetic.high, arithmetic.size
    narrow = np.clip(rng.integers(low, high + 1, (8, 1)) + rng.integers(0, 3, (8, size)), low, high)
    ends = np.where(rng.random((8, size)) < rng.random((8, 1)), low, high)
    return np.concatenate(
        [
            rng.integers(low, high + 1, (8, size)),
            narrow,
            ends,
            np.full((1, size), low),
            np.full((1, size), high),
        ]
    )


def normalised(rows, epsilon):
    centred = rows - rows.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + epsilon)
    return np.where(centred == 0, 0.0, centred / np.where(deviation == 0, 1.0, deviation))


@settings(max_examples=150, deadline=None)
@given(arithmetic=arithmetics(), seed=st.integers(0, 1000))
def test_the_error_is_within_the_bound(arithmetic, seed):
    if arithmetic.problem:
        return
    rows = rows_of(arithmetic, seed)
    found = arithmetic.compute(rows)
    assert np.abs(found).max() < 1 << (arithmetic.output_bits - 1)
    real = normalised(rows, arithmetic.epsilon_term / arithmetic.size**2) * 2**arithmetic.fraction_bits
    assert np.abs(found - real).max() <= arithmetic.error + 1e-6


@settings(max_examples=150, deadline=None)
@given(arithmetic=arithmetics(), seed=st.integers(0, 1000))
def test_the_recurrence_of_the_hardware_finds_the_roots_in_its_width(arithmetic, seed):
    if arithmetic.problem:
        return
    rows = rows_of(arithmetic, seed)
    total = rows.sum(-1)
    deviation = arithmetic.size * np.square(rows).sum(-1) - total**2 + arithmetic.epsilon_term
    assert deviation.max() <= arithmetic.deviation_limit
    for d, root in zip(deviation, roots(arithmetic, deviation), strict=True):
        if d > arithmetic.epsilon_term:  # of equal elements the root is not used
            assert recurrence(arithmetic, int(d)) == root


def roots(arithmetic, deviation):
    return inverse_roots(deviation, arithmetic.shift, arithmetic.root_bits)


def recurrence(arithmetic, deviation):
    """Find the root bit by bit, as the core does."""
    remainder = 1 << 2 * (arithmetic.shift - arithmetic.root_bits + 1)
    root = product = 0
    for _ in range(arithmetic.root_bits):
        assert remainder.bit_length() <= arithmetic.remainder_bits
        trial = 4 * product + deviation
        bit = trial <= remainder
        remainder = 4 * (remainder - trial * bit)
        root, product = 2 * root + bit, 2 * product + deviation * bit
    return root


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"epsilon": -1.0}, "fraction_bits and epsilon must not be negative"),
        ({"epsilon": 1e8}, "its epsilon times the square of the row, 102400000000, does not fit in 31 bits"),
        ({"output_bits": 25}, "its input or output has more than 24 bits"),
        ({"low": -(1 << 21), "high": (1 << 21) - 1}, "its inner numbers have 66 bits, and 62 is the most"),
    ],
)
def test_what_does_not_fit_is_refused(changed, problem):
    fields = {"size": 32, "low": -128, "high": 127, "fraction_bits": 8, "output_bits": 12, "epsilon": 1e-5}
    assert IntegerLayerNorm(**fields).problem == ""
    assert IntegerLayerNorm(**(fields | changed)).problem == problem


def test_a_root_has_a_bit_even_where_epsilon_makes_it_0():
    arithmetic = IntegerLayerNorm(1, 0, 1, 1, 3, 1000.0)
    assert (arithmetic.problem, arithmetic.root_bits) == ("", 1)
    assert arithmetic.widths()["remainder_start"] == 2 * arithmetic.shift
    assert (
        recurrence(arithmetic, arithmetic.deviation_limit) == roots(arithmetic, np.array([1000])).item() == 0
    )


def test_outputs_are_clipped():
    arithmetic = IntegerLayerNorm(16, -128, 127, 4, 5, 0.0)
    row = np.array([[127] + [0] * 15])
    assert arithmetic.compute(row)[0, 0] == 15
    assert arithmetic.compute(-row)[0, 0] == -16
