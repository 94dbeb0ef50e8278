"""SoftmaxHLS: its C++, compiled and run, against the Softmax kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.hls.softmax_hls import SoftmaxHLS
from tests.backends.hls.rows import WIDE, both, check_what_finn_generates, layer_of


def softmax(shape=(3, 16), simd=4, kind="INT8", fraction=8, scale=0.02, output=""):
    return layer_of(
        "SoftmaxHLS", shape, SIMD=simd, input_data_type=kind, outputDataType=output or f"UINT{fraction}",
        fraction_bits=fraction, scale=scale, NumChannels=shape[-1],
    )  # fmt: skip


@pytest.mark.slow
def test_integers_are_the_kernels_bit_for_bit():
    expected, found = both(softmax())
    assert expected.std() > 5
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_powers_of_more_than_32_bits():
    model = softmax((2, 256), 4, "INT4", 24, 0.5)
    assert getCustomOp(model.graph.node[0]).arithmetic().table[0] == 1 << 33
    expected, found = both(model)
    assert expected.max() > 1 << 16
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_floats_are_the_kernels_up_to_rounding():
    expected, found = both(softmax(kind="FLOAT32", output="FLOAT32"))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.slow
def test_floats_of_wide_integers(kind):
    expected, found = both(softmax((2, 8), 4, kind, output="FLOAT32"))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.compiles(tried=1)  # that of the first value of each
@settings(max_examples=8, deadline=None)
@given(
    lanes=st.sampled_from([2, 1, 3]),
    beats=st.sampled_from([5, *range(1, 5), *range(6, 13)]),
    kind=st.sampled_from(["INT8", "INT2", "UINT1", "UINT4", "UINT12"]),
    fraction=st.sampled_from([8, *range(1, 8), 9, 10]),
    scale=st.just(0.02) | st.floats(0.01, 1.5),
    spare=st.integers(0, 1),
)
def test_any_size_and_datatype(lanes, beats, kind, fraction, scale, spare):
    model = softmax((2, 2, lanes * beats), lanes, kind, fraction, scale, f"UINT{fraction + spare}")
    expected, found = both(model)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_finn_generates_complete_code(tmp_path):
    text = check_what_finn_generates(softmax(), tmp_path)
    assert "brainsmith::softmax<layer_0_parameters>(in0_V, out0_V);" in text
    assert "static const unsigned table[256] = {" in text


def test_what_it_refuses():
    layer = getCustomOp(softmax(kind="INT20").graph.node[0])
    layer.set_nodeattr("scale", 1e-4)
    message = "its table of powers would have more than 16384 entries at scale 0.0001: quantise its input to fewer bits"
    found = SoftmaxHLS.supports(layer)
    assert (bool(found), found.reason) == (False, message)
    layer.set_nodeattr("outputDataType", "FLOAT32")
    assert SoftmaxHLS.supports(layer)


@pytest.mark.parametrize("kind", ["BIPOLAR", "FIXED<8,4>", "FLOAT16", "INT65"])
def test_floats_are_computed_of_integers_and_single_precision(kind):
    layer = getCustomOp(softmax(output="FLOAT32").graph.node[0])
    layer.set_nodeattr("input_data_type", kind)
    reason = f"its input is {kind}, and it takes FLOAT32, and INTn and UINTn of up to 64 bits"
    assert SoftmaxHLS.supports(layer).reason == reason
    layer.set_nodeattr("outputDataType", "UINT8")
    if kind != "INT65":
        reason = f"its input is {kind}, and it takes INTn and UINTn"
        assert SoftmaxHLS.supports(layer).reason == reason
