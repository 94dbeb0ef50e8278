"""QONNX's quantisers: their programs against QONNX's own execution, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.program.single_node import assert_lowered_right, is_foreign, one_node

EDGES = np.array(
    [0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 127.5], np.float32
)
MODES = st.sampled_from(sorted(ROUNDINGS))
SEEDS = st.integers(0, 1000)


def values(seed, shape, scale=1.0):
    """Return a stack of two runs with halves, ends and what is no number."""
    random = np.random.default_rng(seed)
    drawn = random.choice([0.25, 1.0, 10.0]) * scale * random.normal(0, 4, (2, *shape)).astype(np.float32)
    stack = np.where(random.random(drawn.shape) < 0.3, np.rint(drawn / scale * 2) / 2 * scale, drawn)
    stack = stack.astype(np.float32).reshape(-1)
    stack[: len(EDGES)] = EDGES[: stack.size]
    return random.permutation(stack).reshape(2, *shape)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([(1, 3, 4), (1, 2, 3, 3), (5, 7)]),
    SEEDS,
    st.integers(1, 32),
    st.booleans(),
    st.booleans(),
    MODES,
)
def test_quant(shape, seed, bits, signed, narrow, mode):
    random = np.random.default_rng(seed)
    by_channel = (1, shape[1], *(1,) * (len(shape) - 2))
    size = by_channel if random.integers(2) else ()
    scale = random.choice([1, 0.25, 0.1, 0.37], size).astype(np.float32)
    zero = random.choice([0, 0, 1, -3, 0.5], size).astype(np.float32)
    constants = {"s": scale, "z": zero, "b": np.array(bits, np.float32)}
    model = one_node(
        "Quant",
        {"x": shape},
        {"y": shape},
        constants,
        signed=int(signed),
        narrow=int(narrow),
        rounding_mode=mode.lower(),
    )
    assert_lowered_right(model, x=values(seed, shape))


@pytest.mark.parametrize(("signed", "datatype"), [(1, "INT3"), (0, "UINT3")])
def test_quant_of_whole_numbers_is_proved(signed, datatype):
    constants = {
        "s": np.float32(1).reshape(()),
        "z": np.zeros((), np.float32),
        "b": np.float32(3).reshape(()),
    }
    model = one_node(
        "IntQuant", {"x": (1, 4)}, {"y": (1, 4)}, constants, signed=signed, narrow=0, rounding_mode="ROUND",
        datatypes={"x": "INT8", "y": datatype},
    )  # fmt: skip
    checked = [
        made.outputs for made in lower(runnable_copy(model)).instructions if "annotated" in made.function
    ]
    assert checked == [("x",)]


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([1.0, 0.5, -0.3]), st.booleans())
def test_bipolar_quant(seed, factor, by_channel):
    scale = np.full((1, 3, 1) if by_channel else (), factor, np.float32)
    model = one_node("BipolarQuant", {"x": (1, 3, 5)}, {"y": (1, 3, 5)}, {"s": scale})
    assert_lowered_right(model, x=values(seed, (1, 3, 5)))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 8), MODES, st.sampled_from([0.0, 3.0]))
def test_trunc_of_opset_1(seed, kept, mode, zero):
    constants = {"s": 0.25, "z": zero, "i": 8, "o": kept}
    constants = {name: np.array(value, np.float32) for name, value in constants.items()}
    model = one_node("Trunc", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, constants, rounding_mode=mode)
    assert_lowered_right(model, x=values(seed, (1, 4, 5), 0.25))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 8), MODES, st.booleans(), st.booleans(), st.sampled_from([0.0, 2.0]))
def test_trunc_of_opset_2(seed, kept, mode, signed, narrow, zero):
    constants = {"s": 0.25, "z": zero, "i": 8, "f": 1.0, "o": kept}
    constants = {name: np.array(value, np.float32) for name, value in constants.items()}
    attributes = {"rounding_mode": mode, "signed": int(signed), "narrow": int(narrow)}
    model = one_node("Trunc", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, constants, opset=2, **attributes)
    assert_lowered_right(model, x=values(seed, (1, 4, 5), 0.25))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(2, 5), st.integers(0, 4), MODES, st.sampled_from(["saturate", "inf", "nan"]))
def test_float_quant(seed, exponent_bits, mantissa_bits, mode, overflow):
    constants = {
        "s": 0.5,
        "e": exponent_bits,
        "m": mantissa_bits,
        "b": 2 ** (exponent_bits - 1) - 1,
        "most": 240,
    }
    constants = {name: np.array(value, np.float32) for name, value in constants.items()}
    flags = {"has_inf": int(overflow == "inf"), "has_nan": int(overflow == "nan"), "has_subnormal": 0}
    model = one_node(
        "FloatQuant", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, constants, rounding_mode=mode,
        saturation=int(overflow == "saturate"), **flags,
    )  # fmt: skip
    stack = values(seed, (1, 4, 5))
    stack[~np.isfinite(stack)] = 7  # the logarithm of what is no number differs with NumPy's instruction set
    assert_lowered_right(model, x=stack)


def test_a_scale_that_varies_is_left_to_qonnx():
    constants = {"z": np.zeros((), np.float32), "b": np.float32(3).reshape(())}
    model = one_node(
        "Quant",
        {"x": (1, 4), "s": (1, 4)},
        {"y": (1, 4)},
        constants,
        signed=1,
        narrow=0,
        rounding_mode="ROUND",
    )
    assert is_foreign(lower(runnable_copy(model)))
