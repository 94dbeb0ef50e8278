"""Quantisers as compiled loops: every bit as in Python; those that cannot be compiled say why."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.errors import OpError
from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(0, 3, (5, 4, 7)).astype(np.float32)
X[0, 0, :4] = np.nan, np.inf, -np.inf, -0.0
PER_CHANNEL = RANDOM.uniform(0.2, 1, (4, 1)).astype(np.float32)


@pytest.fixture(scope="module")
def int_quant():
    return ops.compile_op("int_quant")


def expect_equal(compiled, inputs, **attributes):
    merged = {**compiled.attributes, **attributes}
    with np.errstate(over="ignore"):
        wanted = compiled.op.forward(*inputs, **merged)
    found = compiled.forward(*inputs, **merged)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(bits_of(found), bits_of(wanted))


def bits_of(values):
    """Return the numbers as integers, so that -0.0 is not 0.0; any NaN is the one NaN."""
    kind = np.uint32 if values.dtype == np.float32 else np.uint64
    return np.where(np.isnan(values), values.dtype.type(np.nan), values).view(kind)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [1, 2, 4, 8, 24, 25, 31, 32])
def test_int_quant_is_the_same_in_every_bit(int_quant, bits):
    inputs = [
        np.float32(10 ** (bits / 6)) * X,
        *(np.asarray(value, np.float32) for value in (0.37, 1.5, bits)),
    ]
    expect_equal(int_quant, inputs)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("scale", "zero"), [(0.37, 0), (PER_CHANNEL, -2)])
@pytest.mark.parametrize(("signed", "narrow"), [(1, 0), (1, 1), (0, 0), (0, 1)])
def test_so_it_is_for_every_kind_of_range_and_scale(int_quant, dtype, scale, zero, signed, narrow):
    for bits in (1, 2, 4, 8, 24, 25, 31, 32):
        x = (X * 10.0 ** (bits / 6)).astype(dtype)
        inputs = [x, *(np.asarray(value, np.float32) for value in (scale, zero, bits))]
        expect_equal(int_quant, inputs, signed=signed, narrow=narrow)


@pytest.mark.slow
@pytest.mark.parametrize("mode", sorted(ROUNDINGS))
def test_so_it_is_for_every_rounding(int_quant, mode):
    inputs = [X, *(np.asarray(value, np.float32) for value in (0.25, 0.5, 4))]
    expect_equal(int_quant, inputs, rounding_mode=mode)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["int_quant", "bipolar_quant"])
def test_the_check_draws_what_the_op_takes(name):
    ops.compile_op(name, check=True)


@pytest.mark.parametrize("scale", [1.0, -0.5])
@pytest.mark.slow
def test_bipolar_quant_is_the_same_in_every_bit(scale):
    expect_equal(ops.compile_op("bipolar_quant"), [X, np.asarray(scale, np.float32)])


def test_a_scale_of_more_axes_than_x_adds_none():
    inputs = [np.float32([1, -2, 3]), np.float32([[2]])]
    assert call_op(ops.compile_op("bipolar_quant"), inputs).tolist() == [2, -2, 2]


def test_a_compiled_quantiser_trains_and_is_checked_as_the_op(int_quant):
    found = []
    for op in (int_quant, int_quant.op):
        x, scale = (ops.Tensor(value, requires_grad=True) for value in ([0.3, 0.8, 9.0], 0.5))
        x.apply(op, [x, scale, 0, 3], {}).sum().backward()
        found.append((x.grad.tolist(), scale.grad.tolist()))
    assert found[0] == found[1]
    constants = [None, np.float32(1), np.float32(0), np.float32(4)]
    assert int_quant.output_datatype_for(["FLOAT32"] * 4, constants) == "INT4"


@pytest.mark.slow
def test_a_quantiser_may_be_in_a_chain():
    chain = ops.fuse([lambda x: x * 2, "int_quant", lambda x: x + 1])
    assert call_op(chain, [np.float32([0.3, 0.4, 5]), 0.5, 0, 3]).tolist() == [1.5, 2, 2.5]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "power_of_two_quant",
            "it rounds the logarithm of its scale, which a loop computes to some ulps only; compile int_quant, and give "
            "it the power of two as scale",
        ),
        (
            "multi_threshold",
            "it counts the thresholds of each value's channel, and a loop over elements knows no channels; thresholds at "
            "equal distances are an int_quant, which can be",
        ),
    ],
)
def test_what_cannot_be_compiled_says_why(name, why):
    with pytest.raises(OpError) as raised:
        ops.compile_op(name)
    assert str(raised.value) == f"operation {name!r} cannot be compiled: {why}"
