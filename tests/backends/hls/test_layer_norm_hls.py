"""LayerNormHLS: its C++, compiled and run, against the LayerNorm kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.hls.layer_norm_hls import LayerNormHLS
from brainsmith.kernels.integer_layer_norm import output_bits_for
from tests.backends.hls.rows import WIDE, both, check_what_finn_generates, layer_of


def norm(shape=(3, 16), simd=4, kind="INT8", fraction=8, epsilon=1e-3, output=""):
    output = output or f"INT{output_bits_for(shape[-1], fraction)}"
    return layer_of(
        "LayerNormHLS", shape, SIMD=simd, inputDataType=kind, outputDataType=output, fraction_bits=fraction,
        epsilon=epsilon,
    )  # fmt: skip


@pytest.mark.slow
def test_integers_are_the_kernels_bit_for_bit():
    expected, found = both(norm())
    assert expected.std() > 50
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "greatest"),
    [
        (norm((3, 8), 2, "INT4", 4, output="INT24"), 42),
        (norm((3, 2), 1, "INT2", 1, output="INT16"), 2),
        (norm((3, 1), 1, "UINT1", 1, 1000.0), 0),
        (norm((3, 4), 1, "INT4", 1, 1e6, "INT24"), 0),
    ],
)
def test_outputs_wider_than_the_products_and_roots_of_0(model, greatest):
    expected, found = both(model)
    assert (expected.max() > 0) == (greatest > 0)
    assert expected.max() <= greatest
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_floats_are_the_kernels_up_to_rounding():
    expected, found = both(norm(kind="FLOAT32", output="FLOAT32"))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WIDE)
def test_floats_of_wide_integers(kind):
    expected, found = both(norm((2, 8), 4, kind, output="FLOAT32"))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.compiles(tried=1)  # that of the first value of each
@settings(max_examples=8, deadline=None)
@given(
    lanes=st.sampled_from([2, 1, 3]),
    beats=st.sampled_from([5, *range(1, 5), *range(6, 13)]),
    kind=st.sampled_from(["INT8", "INT2", "UINT1", "UINT4", "UINT12", "INT16"]),
    fraction=st.sampled_from([8, *range(1, 8), 9, 10]),
    epsilon=st.sampled_from([1e-5, 0.0, 3.0, 1e6]),
    width=st.sampled_from(["needed", "clipped", "wide"]),
)
def test_any_size_and_datatype(lanes, beats, kind, fraction, epsilon, width):
    output = {"needed": "", "clipped": f"INT{fraction + 1}", "wide": "INT24"}[width]
    model = norm((2, 2, lanes * beats), lanes, kind, fraction, epsilon, output)
    expected, found = both(model)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_finn_generates_complete_code(tmp_path):
    text = check_what_finn_generates(norm(), tmp_path)
    assert "brainsmith::layer_norm<layer_0_parameters>(in0_V, out0_V);" in text
    assert "#pragma HLS INTERFACE axis port=in0_V" in text


def test_what_it_refuses():
    layer = getCustomOp(norm(kind="INT23").graph.node[0])
    found = LayerNormHLS.supports(layer)
    assert (bool(found), found.reason) == (False, "its inner numbers have 66 bits, and 62 is the most")
    layer.set_nodeattr("outputDataType", "FLOAT32")
    assert LayerNormHLS.supports(layer)


@pytest.mark.parametrize("kind", ["BIPOLAR", "FIXED<8,4>", "FLOAT16", "INT65"])
def test_floats_are_computed_of_integers_and_single_precision(kind):
    layer = getCustomOp(norm(output="FLOAT32").graph.node[0])
    layer.set_nodeattr("inputDataType", kind)
    reason = f"its input is {kind}, and it takes FLOAT32, and INTn and UINTn of up to 64 bits"
    assert LayerNormHLS.supports(layer).reason == reason
    layer.set_nodeattr("outputDataType", "INT8")
    if kind != "INT65":
        reason = f"its input must be INTn or UINTn, not {kind}"
        assert LayerNormHLS.supports(layer).reason == reason
