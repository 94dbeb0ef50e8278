"""LayerNorm and Softmax as programs and as standard ONNX, against the kernels' own Python: integers bit for bit."""

from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.core.datatype import DataType

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.functions.whole_rows import inverse_roots
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.operators.every_form import assert_every_form_right
from tests.execution.program.single_node import FINN, assert_lowered_right, one_node, whole_numbers

prepare_finn()
SEEDS = st.integers(0, 1000)
OURS = "brainsmith.kernels"


def draw(seed, kind, shape):
    random, datatype = np.random.default_rng(seed), DataType[kind]
    stack = whole_numbers(random, int(datatype.min()), int(datatype.max()), (3, *shape))
    stack[0, ..., :] = random.integers(int(datatype.min()), int(datatype.max()))  # rows without a variance
    return stack


def row_kernel(op_type, size, given, result, domain=OURS, **stated):
    shape = (1, 3, size)
    datatypes = {"x": given, "y": result} if result.startswith(("INT", "UINT")) else {}
    return one_node(
        op_type, {"x": shape}, {"y": shape}, domain=domain, SIMD=1, ifm_dim=list(shape), NumChannels=size,
        outputDataType=result, datatypes=datatypes, **stated,
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(
    SEEDS, st.integers(1, 40), st.sampled_from(["INT4", "UINT8", "INT12"]), st.sampled_from([1e-5, 0.3, 40.0])
)
def test_layer_norm_of_integers(seed, size, kind, epsilon):
    stated = {"epsilon": epsilon, "fraction_bits": 5, "inputDataType": kind}
    model = row_kernel("LayerNormKernel", size, kind, "INT10", **stated)
    assert_every_form_right(model, x=draw(seed, kind, (1, 3, size)))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 1 << 50), min_size=1, max_size=20), st.integers(1, 48), st.integers(1, 48))
def test_roots_are_those_of_whole_numbers(deviations, shift, bits):
    most = (1 << bits) - 1
    d = [max(one, 1) for one in deviations]
    fits = [one for one in d if 4 * isqrt((1 << 2 * shift) // one) * one + 4 * one < 1 << 62]
    wanted = [min(isqrt((1 << 2 * shift) // one), most) for one in fits]
    given = inverse_roots(np.asarray(fits, np.int64), shift, bits)
    assert given.tolist() == wanted


@settings(max_examples=30, deadline=None)
@given(
    SEEDS, st.integers(1, 40), st.sampled_from(["INT4", "UINT8", "INT10"]), st.sampled_from([0.01, 0.1, 1.5])
)
def test_softmax_of_integers(seed, size, kind, scale):
    stated = {"fraction_bits": 8, "scale": scale, "input_data_type": kind}
    model = row_kernel("SoftmaxKernel", size, kind, "UINT8", **stated)
    assert_every_form_right(model, x=draw(seed, kind, (1, 3, size)))


@pytest.mark.parametrize(
    ("domain", "op_type"), [(OURS, "LayerNormKernel"), (OURS, "SoftmaxKernel"), (FINN, "HWSoftmax")]
)
def test_floats(domain, op_type):
    stated = {"input_data_type": "FLOAT32"}
    if op_type == "LayerNormKernel":
        stated = {"inputDataType": "FLOAT32", "epsilon": 1e-5}
    model = row_kernel(op_type, 16, "FLOAT32", "FLOAT32", domain, **stated)
    x = np.random.default_rng(0).normal(0, 3, (3, 1, 3, 16)).astype(np.float32)
    assert_lowered_right(model, x=x)
    if domain == OURS:
        assert_rewritten_right(model, relative=1e-6, x=x)


def test_integers_that_the_kernel_cannot_compute_are_refused():
    stated = {"fraction_bits": 8, "scale": 0.0, "input_data_type": "INT4"}
    with pytest.raises(ModelError) as caught:
        rewrite(row_kernel("SoftmaxKernel", 4, "INT4", "UINT8", **stated))
    assert str(caught.value).endswith(": scale must be more than 0 and fraction_bits 1 or more")
