"""Quant nodes in place of QuantizeLinear and DequantizeLinear give ONNX's values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.transforms.quantize_linear_to_quant import QuantizeLinearToQuant
from tests.transforms.quantised_nets import kinds, run

ADVICE = (
    "Quantise it with constant scales, and a QuantizeLinear and a DequantizeLinear around each tensor "
    "(quant_format=QuantFormat.QDQ)."
)


def model_of(nodes, constants, shape=(1, 3), opset=21):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "y")]
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "qdq", ends[:1], ends[1:], tensors)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return ModelWrapper(helper.make_model(graph, ir_version=10, opset_imports=opsets)).transform(
        InferShapes()
    )


def pair(scale, zero, limits=None, domain="", **attributes):
    """Return the nodes and constants of x, quantised and dequantised to y."""
    constants = {"scale": np.float32(scale), "zero": zero}
    nodes = [
        helper.make_node(
            "QuantizeLinear", ["x", "scale", "zero"], ["q"], name="q", domain=domain, **attributes
        )
    ]
    if limits is not None:
        constants |= {"low": zero.dtype.type(limits[0]), "high": zero.dtype.type(limits[1])}
        nodes.append(helper.make_node("Clip", ["q", "low", "high"], ["clipped"], name="clip"))
    last = "q" if limits is None else "clipped"
    names = [last, "scale", "zero"]
    nodes.append(helper.make_node("DequantizeLinear", names, ["y"], name="dq", domain=domain, **attributes))
    return nodes, constants


def weights(values, scale, zero, **attributes):
    """Return the nodes and constants of x plus a dequantised constant."""
    names = ["values", "scale", "zero"]
    nodes = [
        helper.make_node("DequantizeLinear", names, ["w"], name="dq", **attributes),
        helper.make_node("Add", ["x", "w"], ["y"], name="add"),
    ]
    return nodes, {"values": values, "scale": np.float32(scale), "zero": zero}


def quantiser(model):
    (node,) = model.get_nodes_by_op_type("Quant")
    stated = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
    zero, bits = (model.get_initializer(name) for name in node.input[2:])
    return int(bits), stated["signed"], stated["narrow"], zero.reshape(-1).tolist()


LIMITS = {np.int8: [None, (-8, 7), (-7, 7), (-2, 1), (0, 15)], np.uint8: [None, (0, 15), (0, 1)]}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(dtype, limits) for dtype, all_limits in LIMITS.items() for limits in all_limits]),
    st.integers(-128, 127),
    st.sampled_from([0.25, 0.1, 0.0039177486, 3.0]),
    st.booleans(),
)
def test_a_pair_gives_what_onnx_gives(kind, zero, scale, without):
    dtype, limits = kind
    zero = dtype(0 if limits else zero + (128 if dtype is np.uint8 else 0))
    exact = zero == 0 or (zero % 2 == 0 and scale == 0.25)  # of values in the middle between two levels
    levels = np.arange(-600, 600) / 2 if exact else np.arange(-300, 300) + 0.25
    x = (levels * scale).astype(np.float32).reshape(-1, 1, 3)
    model = model_of(*pair(scale, zero, limits))
    if without and zero == 0 and dtype is np.uint8 and limits is None:
        for node in model.graph.node:
            node.input.pop()
    expected = run(model, x)
    model = model.transform(QuantizeLinearToQuant())
    assert kinds(model) == ["Quant"]
    np.testing.assert_array_equal(run(model, x), expected)


@pytest.mark.parametrize("wide", [(-100, 100), (-100, 3), (-2, 100)])
def test_of_several_clips_the_narrowest_limits_count(wide):
    nodes, constants = pair(0.25, np.int8(0), (-8, 7))
    nodes[1].input[0] = "wide"
    nodes.insert(1, helper.make_node("Clip", ["q", "wide_low", "wide_high"], ["wide"], name="wide_clip"))
    constants |= {"wide_low": np.int8(wide[0]), "wide_high": np.int8(wide[1])}
    model = model_of(nodes, constants)
    if wide == (-100, 100):
        assert quantiser(model.transform(QuantizeLinearToQuant())) == (4, 1, 0, [0.0])
    else:
        levels = f"{max(-8, wide[0])} to {min(7, wide[1])}"
        with pytest.raises(
            ModelError, match=f"its Clip limits it to the levels {levels}, and no Quant has exactly these"
        ):
            model.transform(QuantizeLinearToQuant())


@pytest.mark.parametrize(
    ("zero", "limits", "expected"),
    [
        (np.int8(0), None, (8, 1, 0, [0.0])),
        (np.int8(-128), None, (8, 0, 0, [0.0])),
        (np.uint8(128), None, (8, 1, 0, [0.0])),
        (np.uint8(7), None, (8, 0, 0, [7.0])),
        (np.int8(0), (-7, 7), (4, 1, 1, [0.0])),
        (np.int8(0), (0, 15), (4, 0, 0, [0.0])),
        (np.int16(0), None, (16, 1, 0, [0.0])),
    ],
)
def test_the_zero_point_goes_into_the_range_where_that_is_exact(zero, limits, expected):
    assert quantiser(model_of(*pair(0.5, zero, limits)).transform(QuantizeLinearToQuant())) == expected


def test_a_scale_for_each_channel():
    nodes, constants = pair([0.5, 0.25, 2.0], np.zeros(3, np.int8), axis=1)
    model, x = model_of(nodes, constants), np.float32([[[0.3, 0.3, 0.3]], [[-9, -9, -9]]])
    expected = run(model, x)
    np.testing.assert_array_equal(run(model.transform(QuantizeLinearToQuant()), x), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("zero", [0, 3])
def test_weights_are_the_quant_of_their_values(dtype, zero):
    values = np.asarray([[1, 100, 7]], dtype) - (dtype(90) if dtype is not np.uint8 else dtype(1))
    model, x = model_of(*weights(values, 0.1, dtype(zero))), np.zeros((1, 1, 3), np.float32)
    expected = run(model, x)
    model = model.transform(QuantizeLinearToQuant())
    assert kinds(model) == ["Quant", "Add"]
    np.testing.assert_array_equal(run(model, x), expected)


def test_weights_of_four_bits_in_the_domain_of_onnx_runtime():
    int4 = helper.tensor_dtype_to_np_dtype(TensorProto.INT4)
    nodes, constants = weights(np.int8([[1, -8, 7]]).astype(int4), 0.5, int4.type(0))
    nodes[0].domain = "com.microsoft"
    model = model_of(nodes, constants).transform(QuantizeLinearToQuant())
    assert quantiser(model) == (4, 1, 0, [0.0])
    assert run(model, np.zeros((1, 1, 3), np.float32)).tolist() == [[[0.5, -4.0, 3.5]]]


def test_a_bias_is_folded_to_its_values():
    model = model_of(*weights(np.int32([[100000, -5, 0]]), 0.5, np.int32(0))).transform(
        QuantizeLinearToQuant()
    )
    assert kinds(model) == ["Constant", "Add"]
    assert run(model, np.zeros((1, 1, 3), np.float32)).tolist() == [[[50000.0, -2.5, 0.0]]]


def refused(nodes, constants, change=lambda model: None, **more):
    model = model_of(nodes, constants, **more)
    change(model)
    with pytest.raises(ModelError) as caught:
        model.transform(QuantizeLinearToQuant())
    return str(caught.value)


def test_what_cannot_become_a_quant_says_why():
    why = "node 'dq' (DequantizeLinear) cannot become a Quant: {}. " + ADVICE
    assert refused(*pair(0.5, np.int8(0), (-3, 5))) == why.format(
        "its Clip limits it to the levels -3 to 5, and no Quant has exactly these"
    )
    nodes, constants = pair(0.5, np.int8(0))
    nodes[1].input[1] = "other"
    assert refused(nodes, constants | {"other": np.float32(0.25)}) == why.format(
        "node 'q' (QuantizeLinear), which it undoes, has another scale, zero point or axis"
    )

    def varying(model):
        model.graph.node[1].input[1] = "x"

    assert refused(*pair(0.5, np.int8(0)), varying) == why.format(
        "its scale or its zero point is not constant"
    )

    def foreign(model):
        model.graph.node[0].op_type = "Cast"

    assert refused(*pair(0.5, np.int8(0)), foreign) == why.format(
        "its input is neither a constant nor the output of a QuantizeLinear"
    )


def test_integers_that_nothing_dequantises_are_refused():
    nodes, constants = pair(0.5, np.int8(0))
    nodes[1] = helper.make_node("Identity", ["x"], ["y"], name="same")
    assert refused(nodes, constants) == (
        f"node 'q' (QuantizeLinear) has no DequantizeLinear after it. {ADVICE}"
    )
