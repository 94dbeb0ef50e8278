"""LayerNorm and Softmax: their programs against the kernels' own Python, bit for bit."""

from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.core.datatype import DataType

from brainsmith.execution.program.functions.whole_rows import inverse_roots
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.lowering.single_node import FINN, assert_lowered_right, one_node, whole_numbers

prepare_finn()
SEEDS = st.integers(0, 1000)
OURS = "brainsmith.kernels"


def draw(seed, kind, shape):
    random, datatype = np.random.default_rng(seed), DataType[kind]
    stack = whole_numbers(random, int(datatype.min()), int(datatype.max()), (3, *shape))
    stack[0, ..., :] = random.integers(int(datatype.min()), int(datatype.max()))  # rows without a variance
    return stack


@settings(max_examples=40, deadline=None)
@given(
    SEEDS, st.integers(1, 40), st.sampled_from(["INT4", "UINT8", "INT12"]), st.sampled_from([1e-5, 0.3, 40.0])
)
def test_layer_norm_of_integers(seed, size, kind, epsilon):
    model = one_node(
        "LayerNormKernel", {"x": (1, 3, size)}, {"y": (1, 3, size)}, domain=OURS, SIMD=1, ifm_dim=[1, 3, size],
        NumChannels=size, epsilon=epsilon, inputDataType=kind, outputDataType="INT10", fraction_bits=5,
        datatypes={"x": kind, "y": "INT10"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(seed, kind, (1, 3, size)))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 1 << 50), min_size=1, max_size=20), st.integers(1, 48), st.integers(1, 48))
def test_roots_are_those_of_whole_numbers(deviations, shift, bits):
    most = (1 << bits) - 1
    d = [max(one, 1) for one in deviations]
    fits = [one for one in d if 4 * isqrt((1 << 2 * shift) // one) * one + 4 * one < 1 << 62]
    wanted = [min(isqrt((1 << 2 * shift) // one), most) for one in fits]
    given = inverse_roots(np.asarray(fits, np.int64), shift, bits)
    assert given.tolist() == wanted


@settings(max_examples=40, deadline=None)
@given(
    SEEDS, st.integers(1, 40), st.sampled_from(["INT4", "UINT8", "INT10"]), st.sampled_from([0.01, 0.1, 1.5])
)
def test_softmax_of_integers(seed, size, kind, scale):
    model = one_node(
        "SoftmaxKernel", {"x": (1, 3, size)}, {"y": (1, 3, size)}, domain=OURS, SIMD=1, ifm_dim=[1, 3, size],
        NumChannels=size, input_data_type=kind, outputDataType="UINT8", fraction_bits=8, scale=scale,
        datatypes={"x": kind, "y": "UINT8"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(seed, kind, (1, 3, size)))


@pytest.mark.parametrize(
    ("domain", "op_type"), [(OURS, "LayerNormKernel"), (OURS, "SoftmaxKernel"), (FINN, "HWSoftmax")]
)
def test_floats(domain, op_type):
    attributes = {"input_data_type": "FLOAT32"}
    if op_type == "LayerNormKernel":
        attributes = {"inputDataType": "FLOAT32", "outputDataType": "FLOAT32", "epsilon": 1e-5}
    model = one_node(
        op_type,
        {"x": (1, 3, 16)},
        {"y": (1, 3, 16)},
        domain=domain,
        SIMD=1,
        ifm_dim=[1, 3, 16],
        NumChannels=16,
        **attributes,
    )
    assert_lowered_right(model, x=np.random.default_rng(0).normal(0, 3, (3, 1, 3, 16)).astype(np.float32))
