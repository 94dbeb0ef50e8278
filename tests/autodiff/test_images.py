"""Convolution and pooling: as onnxruntime computes them, with gradients that finite differences confirm."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.op import attributes_of
from brainsmith.autodiff.primitives.images import CONV2D, GLOBAL_AVERAGE_POOL, MAX_POOL2D
from brainsmith.autodiff.primitives.onnx_form import OnnxCall
from brainsmith.errors import OpError

CONVOLUTIONS = [
    ((2, 3, 5, 6), (4, 3, 3, 3), {}),
    ((2, 3, 5, 6), (4, 3, 3, 2), {"padding": (1, 0)}),
    ((1, 4, 6, 7), (6, 2, 3, 3), {"stride": 2, "padding": 1, "groups": 2}),
    ((3, 4, 5, 5), (4, 1, 3, 3), {"stride": (2, 1), "padding": 1, "groups": 4}),
    ((2, 2, 4, 4), (3, 2, 1, 1), {"stride": 3}),
]
POOLS = [
    ((2, 3, 4, 6), {}),
    ((2, 3, 7, 7), {"kernel": 3, "stride": 2, "padding": 1}),
    ((1, 2, 5, 6), {"kernel": (2, 3), "stride": 1}),
    ((1, 2, 5, 5), {"kernel": 2}),  # a row and a column are left over
]


def numbers(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def with_onnxruntime(op, inputs, attributes):
    """Run the ONNX form of a call."""
    call = OnnxCall(attributes_of(op, attributes), tuple(x.shape for x in inputs), opset=17)
    form = op.onnx.node(call)
    assert form.constants == ()
    names = [f"x{at}" for at in range(len(inputs))]
    tensors = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
        for name, x in zip(names, inputs, strict=True)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node(form.op_type, names, ["y"], **form.attributes)
    graph = helper.make_graph([node], "one", tensors, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs, strict=True)))[0]


def gradients(op, inputs, upstream, **attributes):
    merged = attributes_of(op, attributes)
    return op.create_gradient_function(inputs, call_op(op, inputs, attributes), **merged).gradients(upstream)


def check_gradients(op, inputs, **attributes):
    """Compare with central differences of a step that is a power of two."""
    upstream = numbers(9, *call_op(op, inputs, attributes).shape)
    found = gradients(op, inputs, upstream, **attributes)
    step = 2.0**-12
    for at, given_input in enumerate(inputs):
        expected = np.empty_like(given_input)
        for place in np.ndindex(given_input.shape):
            ends = []
            for sign in (1, -1):
                moved = [x.copy() for x in inputs]
                moved[at][place] += sign * step
                ends.append((call_op(op, moved, attributes) * upstream).sum())
            expected[place] = (ends[0] - ends[1]) / (2 * step)
        assert found[at].shape == given_input.shape
        assert np.allclose(found[at], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("image", "weight", "attributes"), CONVOLUTIONS)
def test_a_convolution_is_that_of_onnxruntime(image, weight, attributes):
    x, w = numbers(1, *image, dtype=np.float32), numbers(2, *weight, dtype=np.float32)
    found = call_op(CONV2D, [x, w], attributes)
    expected = with_onnxruntime(CONV2D, [x, w], attributes)
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("image", "weight", "attributes"), CONVOLUTIONS)
def test_finite_differences_confirm_the_gradients_of_a_convolution(image, weight, attributes):
    check_gradients(CONV2D, [numbers(1, *image), numbers(2, *weight)], **attributes)


@pytest.mark.parametrize(("image", "attributes"), POOLS)
def test_a_max_pool_is_that_of_onnxruntime(image, attributes):
    x = numbers(3, *image, dtype=np.float32) - 2  # mostly negative: a border must not win
    expected = with_onnxruntime(MAX_POOL2D, [x], attributes)
    assert np.array_equal(call_op(MAX_POOL2D, [x], attributes), expected)


@pytest.mark.parametrize(("image", "attributes"), POOLS)
def test_finite_differences_confirm_the_gradient_of_a_max_pool(image, attributes):
    check_gradients(MAX_POOL2D, [numbers(3, *image)], **attributes)


def test_of_equal_values_the_first_has_the_gradient():
    x = np.array([[1.0, 3.0], [3.0, 3.0]]).reshape(1, 1, 2, 2)
    (found,) = gradients(MAX_POOL2D, [x], np.full((1, 1, 1, 1), 5.0))
    assert found.tolist() == [[[[0.0, 5.0], [0.0, 0.0]]]]


def test_a_mean_is_that_of_onnxruntime_and_its_gradient_is_shared_out():
    x = numbers(4, 2, 3, 4, 5, dtype=np.float32)
    found = call_op(GLOBAL_AVERAGE_POOL, [x])
    assert np.allclose(found, with_onnxruntime(GLOBAL_AVERAGE_POOL, [x], {}), rtol=1e-6, atol=1e-6)
    check_gradients(GLOBAL_AVERAGE_POOL, [numbers(4, 2, 3, 4, 5)])


def test_a_convolutions_node_writes_out_what_qonnx_reads():
    call = OnnxCall(attributes_of(CONV2D, {"padding": (1, 0)}), ((1, 2, 5, 5), (4, 2, 3, 1)), opset=17)
    assert CONV2D.onnx.node(call).attributes == {
        "kernel_shape": [3, 1],
        "pads": [1, 0, 1, 0],
        "strides": [1, 1],
        "dilations": [1, 1],
        "group": 1,
    }


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_convolutions_of_integers_are_exact_whatever_the_layout_in_memory(data):
    """The adjoint's law: <conv(x), y> = <x, grad_x(y)> = <w, grad_w(y)>, without any rounding."""
    sizes = st.integers(1, 3)
    groups, takes, makes = (data.draw(sizes) for _ in range(3))
    kernel = (data.draw(sizes), data.draw(sizes))
    attributes = {"stride": data.draw(sizes), "padding": data.draw(st.integers(0, 2)), "groups": groups}
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = random.integers(-9, 9, (2, 5, 6, groups * takes)).astype(float).transpose(0, 3, 1, 2)
    w = random.integers(-9, 9, (groups * makes, takes, *kernel)).astype(float)
    output = call_op(CONV2D, [x, w], attributes)
    assert np.array_equal(output, call_op(CONV2D, [np.ascontiguousarray(x), w], attributes))
    y = random.integers(-9, 9, output.shape).astype(float)
    grad_x, grad_w = gradients(CONV2D, [x, w], y, **attributes)
    assert (output * y).sum() == (x * grad_x).sum() == (w * grad_w).sum()


@pytest.mark.parametrize(
    ("op", "shapes", "attributes", "message"),
    [
        (CONV2D, [(1, 2, 4), (1, 2, 3, 3)], {}, "conv2d takes images (N, C, H, W), not (1, 2, 4)"),
        (CONV2D, [(1, 2, 4, 4), (2, 3)], {}, "conv2d takes weights (O, C / groups, KH, KW), not (2, 3)"),
        (
            CONV2D,
            [(1, 2, 4, 4), (3, 1, 3, 3)],
            {"groups": 2},
            "conv2d cannot apply weights (3, 1, 3, 3) to 2 channels in 2 groups",
        ),
        (
            CONV2D,
            [(1, 2, 4, 4), (1, 2, 5, 3)],
            {},
            "conv2d: a window of (5, 3) does not fit an image of (4, 4) with padding (0, 0)",
        ),
        (
            CONV2D,
            [(1, 2, 4, 4), (1, 2, 3, 3)],
            {"stride": 0},
            "conv2d: windows and steps must be 1 or more, padding 0 or more, not (3, 3), (0, 0) and (0, 0)",
        ),
        (MAX_POOL2D, [(4, 4)], {}, "max_pool2d takes images (N, C, H, W), not (4, 4)"),
        (
            MAX_POOL2D,
            [(1, 1, 4, 4)],
            {"padding": (0, 2)},
            "max_pool2d: a window of (2, 2) may lie in the padding (0, 2) alone",
        ),
        (GLOBAL_AVERAGE_POOL, [(4,)], {}, "global_average_pool takes images (N, C, H, W), not (4,)"),
    ],
)
def test_what_does_not_fit_is_refused(op, shapes, attributes, message):
    with pytest.raises(OpError) as caught:
        call_op(op, [np.zeros(shape) for shape in shapes], attributes)
    assert str(caught.value) == message


def test_a_mean_of_integers_is_refused():
    with pytest.raises(OpError) as caught:
        call_op(GLOBAL_AVERAGE_POOL, [np.zeros((1, 1, 2, 2), int)])
    assert str(caught.value) == "global_average_pool takes floats, because a mean is one, not int64"


def test_a_max_pool_keeps_integers():
    x = np.arange(16, dtype=np.int8).reshape(1, 1, 4, 4) - 20
    found = call_op(MAX_POOL2D, [x], {"kernel": 3, "stride": 2, "padding": 1})
    assert (found.dtype, found.tolist()) == (np.int8, [[[[-15, -13], [-7, -5]]]])
