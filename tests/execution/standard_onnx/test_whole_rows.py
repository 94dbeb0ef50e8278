"""LayerNorm and Softmax in standard operators, against the kernels' own Python: integers bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.standard_onnx.rewrite import rewrite
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.lowering.single_node import one_node
from tests.execution.lowering.test_row_kernels import draw
from tests.execution.standard_onnx.rewritten import assert_rewritten_right

prepare_finn()
OURS = "brainsmith.kernels"
SEEDS = st.integers(0, 1000)


def row_kernel(op_type, size, given, result, **stated):
    shape = (1, 3, size)
    datatypes = {"x": given, "y": result} if result.startswith(("INT", "UINT")) else {}
    return one_node(
        op_type, {"x": shape}, {"y": shape}, domain=OURS, SIMD=1, ifm_dim=list(shape), NumChannels=size,
        outputDataType=result, datatypes=datatypes, **stated,
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(
    SEEDS, st.integers(1, 40), st.sampled_from(["INT4", "UINT8", "INT12"]), st.sampled_from([1e-5, 0.3, 40.0])
)
def test_layer_norm_of_integers(seed, size, kind, epsilon):
    stated = {"epsilon": epsilon, "fraction_bits": 5, "inputDataType": kind}
    model = row_kernel("LayerNormKernel", size, kind, "INT10", **stated)
    assert_rewritten_right(model, x=draw(seed, kind, (1, 3, size)))


@settings(max_examples=20, deadline=None)
@given(
    SEEDS, st.integers(1, 40), st.sampled_from(["INT4", "UINT8", "INT10"]), st.sampled_from([0.01, 0.1, 1.5])
)
def test_softmax_of_integers(seed, size, kind, scale):
    model = row_kernel(
        "SoftmaxKernel", size, kind, "UINT8", fraction_bits=8, scale=scale, input_data_type=kind
    )
    assert_rewritten_right(model, x=draw(seed, kind, (1, 3, size)))


@pytest.mark.parametrize("op_type", ["LayerNormKernel", "SoftmaxKernel"])
def test_floats(op_type):
    stated = {"input_data_type": "FLOAT32"}
    if op_type == "LayerNormKernel":
        stated = {"inputDataType": "FLOAT32", "epsilon": 1e-5}
    model = row_kernel(op_type, 16, "FLOAT32", "FLOAT32", **stated)
    x = np.random.default_rng(0).normal(0, 3, (3, 1, 3, 16)).astype(np.float32)
    assert_rewritten_right(model, relative=1e-6, x=x)


def test_integers_that_the_kernel_cannot_compute_are_refused():
    model = row_kernel(
        "SoftmaxKernel", 4, "INT4", "UINT8", fraction_bits=8, scale=0.0, input_data_type="INT4"
    )
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value).endswith(": scale must be more than 0 and fraction_bits 1 or more")
