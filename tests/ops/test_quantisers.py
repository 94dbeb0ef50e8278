"""The quantiser ops compute, bit for bit, what QONNX's nodes do, and their gradients are those of their surrogates."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from onnx import TensorProto, helper

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.errors import GradientError, OpError
from brainsmith.execution.program.functions.rounding_modes import ROUNDINGS
from brainsmith.ops.bipolar_quant import BipolarQuant
from brainsmith.ops.int_quant import IntQuant
from brainsmith.ops.multi_threshold import MultiThreshold, datatype_of_levels
from brainsmith.ops.power_of_two_quant import PowerOfTwoQuant, power_of_two

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from qonnx.core.datatype import DataType
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.custom_op.general.bipolar_quant import binary_quant
    from qonnx.custom_op.general.intquant import int_quant as qonnx_int_quant
    from qonnx.custom_op.general.multithreshold import MultiThreshold as QonnxMultiThreshold
    from qonnx.transformation.infer_datatypes import InferDataTypes

QUANTISERS = {cls.name: cls() for cls in (BipolarQuant, IntQuant, MultiThreshold, PowerOfTwoQuant)}
FLOATS = st.floats(-1e6, 1e6, width=32) | st.sampled_from(
    [0.5, 1.5, 2.5, -0.5, -1.5, 0.0, -0.0, 127.5, -128.5]
)
SCALES = st.floats(2.0**-20, 2.0**10, width=32)
VALUES = hnp.arrays(np.float32, (2, 3, 4), elements=FLOATS)


def scales(shapes=((), (1,), (1, 3, 1), (4,), (2, 3, 4))):
    return st.sampled_from(shapes).flatmap(lambda shape: hnp.arrays(np.float32, shape, elements=SCALES))


def run(name, inputs, **attributes):
    return call_op(QUANTISERS[name], inputs, attributes)


def same_bits(found, expected):
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes(), (found, expected)


def test_they_are_found_by_name():
    assert set(QUANTISERS) <= set(ops.list_custom_ops())
    found = ops.execute_custom_op("int_quant", [np.float32([0.3, 9.0]), 0.5, 0, 3])
    np.testing.assert_array_equal(found, [0.5, 1.5])


@pytest.mark.parametrize("mode", [*ROUNDINGS, "half_up", "Round"])
@settings(max_examples=40, deadline=None)
@given(
    x=VALUES,
    scale=scales(),
    zero=st.integers(-3, 3),
    bits=st.integers(1, 32),
    signed=st.booleans(),
    narrow=st.booleans(),
)
def test_int_quant_is_quant(mode, x, scale, zero, bits, signed, narrow):
    zero_point, width = np.float32([zero]), np.array(bits, np.float32)
    with np.errstate(all="ignore"):
        expected = qonnx_int_quant(x, scale, zero_point, width, signed, narrow, mode).astype(np.float32)
    attributes = {"signed": signed, "narrow": narrow, "rounding_mode": mode}
    same_bits(run("int_quant", [x, scale, zero_point, width], **attributes), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3.4e38])
@pytest.mark.parametrize("bits", [1, 4])
def test_int_quant_of_what_is_no_number(value, bits):
    x = np.float32([value])
    with np.errstate(all="ignore"):
        expected = qonnx_int_quant(x, np.float32(0.1), np.float32(0), np.float32(bits), 1, 0, "ROUND")
    same_bits(run("int_quant", [x, 0.1, 0, bits]), expected)


@settings(max_examples=60, deadline=None)
@given(x=VALUES, scale=scales(), sign=st.sampled_from([-1, 1]))
def test_bipolar_quant_is_bipolar_quant(x, scale, sign):
    scale = scale * np.float32(sign)
    same_bits(run("bipolar_quant", [x, scale]), binary_quant(x, scale))


@settings(max_examples=80, deadline=None)
@given(
    layout=st.sampled_from(["", "NC", "NWC", "NCW", "NCHW", "NHWC", "CN", "NHW"]),
    data=st.data(),
    count=st.integers(1, 7),
    out_scale=st.sampled_from([1.0, 0.1, -2.0]),
    out_bias=st.sampled_from([0.0, -4.0, 0.3]),
)
def test_multi_threshold_is_multi_threshold(layout, data, count, out_scale, out_bias):
    rank = len(layout) or data.draw(st.integers(2, 5))
    x = data.draw(hnp.arrays(np.float32, (2, 3, 4, 2, 1)[:rank], elements=FLOATS))
    known = layout or {2: "NC", 3: "NWC", 4: "NCHW"}.get(rank, "NC")
    channels = data.draw(st.sampled_from([1, x.shape[known.index("C") if "C" in known else 1]]))
    thresholds = data.draw(hnp.arrays(np.float32, (channels, count), elements=FLOATS))
    node = helper.make_node(
        "MultiThreshold",
        ["x", "t"],
        ["y"],
        domain="qonnx.custom_op.general",
        out_dtype="INT32",
        out_scale=out_scale,
        out_bias=out_bias,
        data_layout=layout,
    )
    context = {"x": x, "t": thresholds}
    QonnxMultiThreshold(node, 1).execute_node(context, None)
    attributes = {"out_scale": out_scale, "out_bias": out_bias, "data_layout": layout}
    same_bits(
        np.ascontiguousarray(run("multi_threshold", [x, thresholds], **attributes)),
        np.ascontiguousarray(context["y"]),
    )


@settings(max_examples=60, deadline=None)
@given(x=VALUES, scale=scales())
def test_power_of_two_quant_is_quant_with_a_power_of_two(x, scale):
    power = power_of_two(scale)
    assert np.all(np.frexp(power)[0] == 0.5)
    assert np.all(np.abs(np.log2(power) - np.log2(scale)) <= 0.5 + 1e-6)
    given_inputs = [np.float32(0), np.float32(5)]
    same_bits(
        run("power_of_two_quant", [x, scale, *given_inputs]),
        run("int_quant", [x, power, *given_inputs]),
    )


@pytest.mark.parametrize("name", QUANTISERS)
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_of_the_surrogates(name, seed):
    report = ops.gradcheck(QUANTISERS[name], seed=seed)
    assert report.against == "its surrogate"
    assert max(report.worst.values()) < 1e-7


@pytest.mark.parametrize("name", QUANTISERS)
def test_without_their_surrogates_they_would_fail(name):
    op = type(QUANTISERS[name])

    class Silent(op):
        surrogate = None

    with pytest.raises(GradientError, match="is not the derivative of forward"):
        ops.gradcheck(Silent)


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("bits", [1, 2, 8])
def test_gradients_of_every_rounding(mode, signed, bits):
    x = np.random.default_rng(1).normal(0, 2, (3, 4))
    attributes = {"signed": signed, "narrow": True, "rounding_mode": mode}
    if bits == 1 and not signed:
        attributes["narrow"] = False
    assert ops.gradcheck(IntQuant, [x, [[0.7], [0.3], [1.1]], 0.0, bits], attributes=attributes).elements > 10


def gradients(name, inputs, upstream, **attributes):
    op = QUANTISERS[name]
    arrays = [np.asarray(x, np.float64) for x in inputs]
    merged = {**op.attributes, **attributes}
    function = op.create_gradient_function(arrays, op.forward(*arrays, **merged), **merged)
    return function.gradients(np.asarray(upstream, np.float64))


def test_the_gradient_of_lsq():
    """Within the range the scale's is round(x / s) - x / s, beyond it the bound itself (Esser et al., equation 3)."""
    by_x, by_scale, by_zero, by_bits = gradients("int_quant", [[0.3, 9.0, -9.0], 0.5, 0, 3], [1, 10, 100])
    np.testing.assert_array_equal(by_x, [1, 0, 0])
    np.testing.assert_allclose(by_scale, (1 - 0.6) + 10 * 3 + 100 * -4)
    np.testing.assert_allclose(by_zero, -0.5 * 110)
    assert by_bits is None


def test_equal_steps_give_multi_threshold_the_gradient_of_int_quant():
    x = np.random.default_rng(0).normal(0, 2, (4, 5))
    upstream = np.random.default_rng(1).normal(size=x.shape)
    thresholds = (np.arange(-4, 3) + 0.5)[None] * 0.5
    (through, _) = gradients("multi_threshold", [x, thresholds], upstream, out_scale=0.5, out_bias=-2.0)
    np.testing.assert_allclose(
        through, gradients("int_quant", [x, 0.5, 0, 3], upstream)[0] * (np.abs(x + 0.25) < 1.75)
    )


def test_thresholds_that_coincide_or_lie_at_infinity_have_finite_gradients():
    x = np.linspace(-3, 3, 12).reshape(2, 6)
    for thresholds in ([[0.0, 0.0, 0.0]], [[-1.0, 1.0, 1.0]], [[-np.inf, 0.0, np.inf]], [[1.0, -1.0]]):
        found = gradients("multi_threshold", [x, thresholds], np.ones_like(x))
        assert all(np.isfinite(gradient).all() for gradient in found)


def one_node(op_type, x, inputs, **attributes):
    names = [f"i{at}" for at in range(len(inputs))]
    node = helper.make_node(op_type, ["x", *names], ["y"], domain="qonnx.custom_op.general", **attributes)
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("qonnx.custom_op.general", 1)]
    model = ModelWrapper(
        helper.make_model(helper.make_graph([node], "g", [value], [out]), opset_imports=opsets)
    )
    for name, array in zip(names, inputs, strict=True):
        model.set_initializer(name, array)
    return model


CASES = [
    ("int_quant", [1.0, 0.0, 4.0], {}, "INT4"),
    ("int_quant", [1.0, 0.0, 4.0], {"signed": False}, "UINT4"),
    ("int_quant", [1.0, 0.0, 1.0], {}, "BIPOLAR"),
    ("int_quant", [1.0, 0.0, 1.0], {"signed": False}, "BINARY"),
    ("int_quant", [0.5, 0.0, 4.0], {"narrow": True, "rounding_mode": "floor"}, "FLOAT32"),
    ("int_quant", [1.0, 1.0, 4.0], {}, "FLOAT32"),
    ("power_of_two_quant", [0.6, 0.0, 4.0], {}, "FLOAT32"),
    ("power_of_two_quant", [1.1, 0.0, 4.0], {}, "INT4"),
    ("bipolar_quant", [1.0], {}, "BIPOLAR"),
    ("bipolar_quant", [0.5], {}, "FLOAT32"),
    ("multi_threshold", [[[0.0]]], {"out_scale": 2.0, "out_bias": -1.0}, "BIPOLAR"),
    ("multi_threshold", [[[0.0, 1.0, 2.0]]], {}, "UINT2"),
    ("multi_threshold", [[[0.0, 1.0, 2.0]]], {"out_bias": -2.0}, "INT2"),
    ("multi_threshold", [[[0.0, 1.0, 2.0]]], {"out_scale": 0.5}, "FLOAT32"),
]


@pytest.mark.parametrize(("name", "constants", "attributes", "datatype"), CASES)
def test_the_datatype_and_values_of_the_exported_node(name, constants, attributes, datatype):
    """The node that the op's form states gives the same values, and QONNX infers the same datatype for it."""
    from brainsmith.autodiff.primitives.onnx_form import OnnxCall

    op, merged = QUANTISERS[name], {**QUANTISERS[name].attributes, **attributes}
    x = np.random.default_rng(0).normal(0, 3, (2, 3)).astype(np.float32)
    arrays = [np.asarray(constant, np.float32) for constant in constants]
    assert op.output_datatype_for(["FLOAT32"] * op.num_inputs, [None, *arrays], **merged) == datatype
    form = op.onnx.node(OnnxCall(merged, tuple(a.shape for a in (x, *arrays)), 17))
    stated = [op.onnx.converted.get(at + 1, lambda array: array)(array) for at, array in enumerate(arrays)]
    model = one_node(form.op_type, x, stated, **form.attributes).transform(InferDataTypes())
    assert model.get_tensor_datatype("y") == DataType[datatype]
    expected = run(name, [x, *arrays], **attributes)
    same_bits(execute_onnx(model, {"x": x})["y"], expected)
    if datatype != "FLOAT32":
        assert all(DataType[datatype].allowed(value) for value in expected.flat)


@given(levels=st.integers(1, 300), scale=st.integers(-5, 5).filter(bool), bias=st.integers(-300, 300))
def test_the_datatype_of_levels_is_the_least(levels, scale, bias):
    name = datatype_of_levels(levels, scale, bias)
    ends = sorted((bias, scale * levels + bias))
    assert all(DataType[name].allowed(end) for end in ends)
    bits = DataType[name].bitwidth()
    if bits > 2:
        smaller = DataType[f"{'INT' if ends[0] < 0 else 'UINT'}{bits - 1}"]
        assert not all(smaller.allowed(end) for end in ends)


def test_unknown_constants_have_no_datatype():
    for name in QUANTISERS:
        op = QUANTISERS[name]
        assert op.output_datatype_for(["FLOAT32"] * op.num_inputs, [None] * op.num_inputs) == "FLOAT32"


X = np.zeros((2, 3), np.float32)
BAD = [
    ("int_quant", [X, 1, 0], {}, "Operation 'int_quant' expects 4 inputs, got 3"),
    ("int_quant", [X, 0, 0, 4], {}, "scale of int_quant must be finite and not 0"),
    ("int_quant", [X, math.nan, 0, 4], {}, "scale of int_quant must be finite and not 0"),
    ("int_quant", [X, 1, 0, 0], {}, "bits of int_quant must be one whole number from 1 to 32, not 0.0"),
    ("int_quant", [X, 1, 0, 2.5], {}, "bits of int_quant must be one whole number from 1 to 32, not 2.5"),
    (
        "int_quant",
        [X, 1, 0, math.nan],
        {},
        "bits of int_quant must be one whole number from 1 to 32, not nan",
    ),
    (
        "int_quant",
        [X, 1, 0, [4, 4]],
        {},
        "bits of int_quant must be one whole number from 1 to 32, not [4.0, 4.0]",
    ),
    (
        "int_quant",
        [X, [1, 2], 0, 4],
        {},
        "scale of int_quant must be one element or broadcast to x, of shape (2, 3), not (2,)",
    ),
    (
        "int_quant",
        [X, 1, np.zeros((4, 2, 3)), 4],
        {},
        "zero_point of int_quant must be one element or broadcast to x, of shape (2, 3), not (4, 2, 3)",
    ),
    (
        "int_quant",
        [X, 1, 0, 4],
        {"rounding_mode": "nearest"},
        "rounding_mode of int_quant must be one of ROUND, HALF_EVEN, CEIL, FLOOR, UP, DOWN, HALF_UP, HALF_DOWN, "
        "not 'nearest'",
    ),
    (
        "int_quant",
        [X, 1, 0, 4],
        {"narrow": np.zeros(2)},
        "narrow of int_quant must be True or False, not array([0., 0.])",
    ),
    ("int_quant", [X, 1, 0, 4], {"signed": "no"}, "signed of int_quant must be True or False, not 'no'"),
    (
        "int_quant",
        [X, 1, 0, 4],
        {"bits": 4},
        "operation 'int_quant' has no attribute 'bits'; it has signed, narrow, rounding_mode",
    ),
    ("power_of_two_quant", [X, -1, 0, 4], {}, "scale of power_of_two_quant must be greater than 0"),
    ("bipolar_quant", [X, 0], {}, "scale of bipolar_quant must be finite and not 0"),
    ("bipolar_quant", [X], {}, "Operation 'bipolar_quant' expects 2 inputs, got 1"),
    (
        "multi_threshold",
        [X, [[0.0], [1.0]]],
        {},
        "thresholds of multi_threshold must have the shape (channels or 1, number of thresholds), the channels being "
        "3, not (2, 1)",
    ),
    (
        "multi_threshold",
        [X, [0.0]],
        {},
        "thresholds of multi_threshold must have the shape (channels or 1, number of thresholds), the channels being "
        "3, not (1,)",
    ),
    (
        "multi_threshold",
        [X, [[math.nan]]],
        {},
        "thresholds of multi_threshold must be numbers; at least one is NaN",
    ),
    (
        "multi_threshold",
        [X[0], [[0.0]]],
        {},
        "multi_threshold takes x of two axes or more, and a data_layout with a letter for each (such as 'NCHW'), not "
        "shape (3,) with ''",
    ),
    (
        "multi_threshold",
        [X, [[0.0]]],
        {"out_scale": math.inf},
        "out_scale of multi_threshold must be a finite number, not inf",
    ),
]


@pytest.mark.parametrize(("name", "inputs", "attributes", "message"), BAD)
def test_bad_input(name, inputs, attributes, message):
    with pytest.raises(OpError) as caught:
        run(name, inputs, **attributes)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["int_quant", "power_of_two_quant", "bipolar_quant"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,)])
def test_single_numbers_and_empty_arrays(name, shape):
    parameters = [0.5] if name == "bipolar_quant" else [0.5, 0, 4]
    for dtype in (np.float16, np.float32, np.float64):
        result = run(name, [np.ones(shape, dtype), *parameters])
        assert (result.shape, result.dtype) == (shape, dtype)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, np.float64])
@pytest.mark.parametrize("bits", [8, 32])
def test_bits_of_any_dtype(dtype, bits):
    x = np.array([-1e20, 3, 1e20])
    expected = [-(2.0 ** (bits - 1)), 3, 2.0 ** (bits - 1) - 1]
    np.testing.assert_array_equal(run("int_quant", [x, 1, 0, np.array(bits, dtype)]), expected)
    narrow = run("int_quant", [x, 1, 0, np.array(bits, dtype)], signed=False, narrow=True)
    np.testing.assert_array_equal(narrow, [0, 3, 2.0**bits - 2])


def test_integers_become_floats():
    for name, parameters in (
        ("int_quant", [0.5, 0, 4]),
        ("bipolar_quant", [0.5]),
        ("multi_threshold", [[[1.5]]]),
    ):
        attributes = {"out_scale": 0.5} if name == "multi_threshold" else {}
        result = run(name, [np.array([[1, 2]]), *parameters], **attributes)
        assert result.dtype == np.float64
        np.testing.assert_array_equal(np.unique(result % 0.5), [0])


def test_only_the_gradients_that_are_needed_are_computed():
    x, one = np.float32([0.3, 9.0]), np.float32(1)
    for name, constants in (
        ("int_quant", [0.5, 0, 3]),
        ("power_of_two_quant", [0.5, 0, 3]),
        ("bipolar_quant", [0.5]),
    ):
        op = ops.get_custom_op(name)
        inputs = [x, *(one * value for value in constants)]
        gradient = op.create_gradient_function(inputs, op.forward(*inputs, **op.attributes), **op.attributes)
        whole = gradient.gradients(x)
        for at in range(len(inputs)):
            found = gradient.gradients(x, [place == at for place in range(len(inputs))])
            assert [place for place, g in enumerate(found) if g is not None] == (
                [at] if whole[at] is not None else []
            )
            assert np.array_equal(found[at], whole[at]) or whole[at] is None
