"""QONNX's quantisers in standard operators, against QONNX's own execution, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.program.single_node import one_node

MODES = ("ROUND", "HALF_EVEN", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")
EDGES = np.array([0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 3e38, -3e38, 127.5], np.float32)
SEEDS = st.integers(0, 1000)


def values(seed, shape, scale=1.0):
    """Return a stack of three runs with halves, ends and large values."""
    random = np.random.default_rng(seed)
    drawn = scale * random.normal(0, 6, (3, *shape)).astype(np.float32)
    stack = np.where(random.random(drawn.shape) < 0.4, np.rint(drawn / scale * 2) / 2 * scale, drawn)
    stack = stack.astype(np.float32).reshape(-1)
    stack[: len(EDGES)] = EDGES[: stack.size]
    return random.permutation(stack).reshape(3, *shape)


def parameters(**stated):
    return {name: np.array(value, np.float32) for name, value in stated.items()}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([(1, 3, 4), (1, 2, 3, 3), (1, 5), (2, 3)]),
    SEEDS,
    st.integers(1, 16),
    st.booleans(),
    st.booleans(),
    st.sampled_from(MODES),
    st.sampled_from([11, 13, 17]),
)
def test_quant(shape, seed, bits, signed, narrow, mode, opset):
    random = np.random.default_rng(seed)
    by_channel = (1, shape[1], *(1,) * (len(shape) - 2))
    size = by_channel if random.integers(2) else ()
    scale = random.choice([1, 0.25, 0.1, 0.37], size).astype(np.float32)
    zero = random.choice([0, 0, 1, -3, 0.5], size).astype(np.float32)
    model = one_node(
        "Quant", {"x": shape}, {"y": shape}, {"s": scale, "z": zero, "b": np.float32(bits)},
        signed=int(signed), narrow=int(narrow), rounding_mode=mode.lower(),
    )  # fmt: skip
    model.model.opset_import[0].version = opset
    assert_rewritten_right(model, x=values(seed, shape))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([1.0, 0.5, -0.3]), st.booleans(), st.sampled_from([11, 17]))
def test_bipolar_quant(seed, factor, by_channel, opset):
    scale = np.full((1, 3, 1) if by_channel else (), factor, np.float32)
    model = one_node("BipolarQuant", {"x": (1, 3, 5)}, {"y": (1, 3, 5)}, {"s": scale})
    model.model.opset_import[0].version = opset
    assert_rewritten_right(model, x=values(seed, (1, 3, 5)))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 8), st.sampled_from(MODES), st.sampled_from([0.0, 3.0]))
def test_trunc_of_opset_1(seed, kept, mode, zero):
    constants = parameters(s=0.25, z=zero, i=8, o=kept)
    model = one_node("Trunc", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, constants, rounding_mode=mode)
    assert_rewritten_right(model, x=values(seed, (1, 4, 5), 0.25))


@settings(max_examples=20, deadline=None)
@given(
    SEEDS,
    st.integers(1, 8),
    st.sampled_from(MODES),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 2.0]),
)
def test_trunc_of_opset_2(seed, kept, mode, signed, narrow, zero):
    constants = parameters(s=0.25, z=zero, i=8, f=1.0, o=kept)
    attributes = {"rounding_mode": mode, "signed": int(signed), "narrow": int(narrow)}
    model = one_node("Trunc", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, constants, opset=2, **attributes)
    assert_rewritten_right(model, x=values(seed, (1, 4, 5), 0.25))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 5), st.integers(0, 4), st.sampled_from(MODES), st.sampled_from([0.5, 1.0, 0.3]))
def test_float_quant(seed, exponent_bits, mantissa_bits, mode, scale):
    bias = 2 ** (exponent_bits - 1) - 1
    constants = parameters(s=scale, e=exponent_bits, m=mantissa_bits, b=bias, most=240)
    stated = {"has_inf": 0, "has_nan": 0, "has_subnormal": 0, "saturation": 1, "rounding_mode": mode}
    model = one_node("FloatQuant", {"x": (1, 4, 5)}, {"y": (1, 4, 5)}, constants, **stated)
    x = np.clip(values(seed, (1, 4, 5)), -1e30, 1e30)  # what the scale makes infinite is NaN in QONNX
    x[0, 0, 0] = 2.0 ** np.arange(-2, 3)
    x[1, 0, 0] = np.nextafter(x[0, 0, 0], np.float32(0))
    assert_rewritten_right(model, x=x)


def test_a_float_quantiser_that_does_not_saturate_is_refused():
    constants = parameters(s=1, e=4, m=3, b=7, most=240)
    stated = {"has_inf": 1, "has_nan": 0, "has_subnormal": 0, "saturation": 0, "rounding_mode": "ROUND"}
    model = one_node("FloatQuant", {"x": (1, 4)}, {"y": (1, 4)}, constants, **stated)
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value).endswith(": its values become infinite or NaN instead of saturating")


def test_a_computed_scale_is_taken_as_it_comes():
    constants = parameters(z=0, b=4)
    model = one_node(
        "Quant", {"x": (1, 4)}, {"y": (1, 4)}, constants, signed=1, narrow=0, rounding_mode="ROUND"
    )
    model.graph.node[0].input.insert(1, "scale")
    model.graph.input.append(type(model.graph.input[0])())
    model.graph.input[1].CopyFrom(model.graph.input[0])
    model.graph.input[1].name = "scale"
    scale = np.random.default_rng(0).uniform(0.1, 1, (3, 1, 4)).astype(np.float32)
    assert_rewritten_right(model, x=values(0, (1, 4)), scale=scale)


def test_a_number_without_an_axis_takes_one_run_at_a_time():
    model = one_node(
        "Quant", {"x": ()}, {"y": ()}, parameters(s=0.5, z=0, b=4), signed=1, narrow=0, rounding_mode="ROUND"
    )
    standard = rewrite(model)
    assert standard.mixed == "node 'node' (Quant): a result has no axis"
    assert_rewritten_right(model, mixed=True, x=np.array([1.2, -9.9], np.float32))


REFUSALS = [
    ({"rounding_mode": "NEAREST"}, {}, "its rounding mode must be one of CEIL, DOWN, FLOOR, HALF_DOWN, HALF_EVEN, "
     "HALF_UP, ROUND, UP, not 'NEAREST'"),
    ({}, {"s": np.array(0.5, np.float64)}, "its scale must be of float32, not float64"),
    ({}, {"b": np.array([3, 4], np.float32)}, "its bit width must be one number, not 2"),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "constants", "reason"), REFUSALS)
def test_what_is_refused(attributes, constants, reason):
    constants = {**parameters(s=1, z=0, b=3), **constants}
    attributes = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND", **attributes}
    model = one_node("Quant", {"x": (1, 2)}, {"y": (1, 2)}, constants, **attributes)
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        f"node 'node' (Quant) cannot be written with standard ONNX operators: {reason}"
    )
