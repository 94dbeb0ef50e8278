"""Operators that move values: whatever a network does with shapes, its layers give the same bits, or a node is named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.transforms.integer.moving_networks import MovingNetwork


def layers(network):
    return steps.cleanup(network.model(), None).transform(IntegerLayers())


def check(network, count=6):
    """Check that a network and its layers give the same bits; return the layers' operators."""
    model = network.model().transform(InferShapes())
    made = layers(network)
    runnable = made.transform(InferShapes())
    for sample in network.samples(count):
        expected, found = (execute_onnx(each, {"x": sample})[network.tail] for each in (model, runnable))
        np.testing.assert_array_equal(found, expected)
    return [node.op_type for node in made.graph.node]


@pytest.mark.builds
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 20), st.integers(1, 7))
def test_networks_that_move_values_come_out_in_every_bit_or_are_refused(seed, steps_of_it):
    network = MovingNetwork(seed).grow(steps_of_it)
    try:
        check(network)
    except ModelError as error:
        assert "no integer layers for" in str(error)


@pytest.mark.slow
def test_few_networks_that_move_values_are_refused():
    refused = 0
    for seed in range(100):
        network = MovingNetwork(seed).grow(1 + seed % 7)
        try:
            check(network)
        except ModelError:
            refused += 1
    assert refused <= 15


def image(channels=4, height=4, width=6):
    network = MovingNetwork(0, (1, channels, height, width), "INT4")
    network.rng = np.random.default_rng(3)
    return network


def test_channels_last_in_the_network_cost_no_layer():
    """As TensorFlow exports: transposed, a product along the last axis, and transposed back."""
    network = image()
    network.node("Transpose", (1, 4, 6, 4), perm=[0, 2, 3, 1])
    network.node("MatMul", (1, 4, 6, 3), network.weights((4, 3)))
    network.node("Add", (1, 4, 6, 3), network.constant([1.0, 2.0, -1.0]))
    network.node("Transpose", (1, 3, 4, 6), perm=[0, 3, 1, 2])
    network.node("Relu", network.shape)
    network.quant()
    network.node("Conv", (1, 2, 4, 6), network.weights((2, 3, 1, 1)), kernel_shape=[1, 1])
    found = check(network)
    assert found.count("Transpose") == 2  # of the input, and of the output
    assert found.count("MatMul") == 2


def test_one_dimension_is_an_image_of_the_width_one():
    network = MovingNetwork(0, (1, 4, 9), "INT4")
    network.node("Conv", (1, 3, 5), network.weights((3, 4, 3)), kernel_shape=[3], strides=[2], pads=[1, 1])
    network.quant()
    network.node("MaxPool", (1, 3, 2), kernel_shape=[2], strides=[2])
    network.node("Flatten", (1, 6), axis=1)
    network.node("MatMul", (1, 2), network.weights((6, 2)))
    found = check(network)
    assert [found.count(each) for each in ("Im2Col", "MaxPoolNHWC", "MatMul")] == [1, 1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_sums_hold_whatever_the_datatype_of_an_input_beside_zeros_holds(seed):
    network = MovingNetwork(seed, (1, 2, 4, 4), "BIPOLAR")
    network.node("Conv", (1, 2, 6, 6), network.weights((2, 2, 1, 1)), kernel_shape=[1, 1], pads=[1, 1, 1, 1])
    network.quant()
    made = layers(network)
    assert made.get_tensor_datatype("x").name == "INT2"
    every = np.stack(np.meshgrid([-2, -1, 0, 1], [-2, -1, 0, 1]))
    Executor(made).run({"x": every[None, None].astype(np.float32)})  # checks each tensor's datatype


def test_an_input_of_signs_that_is_summed_is_int2():
    """FINN takes the sum of two signs, of which the greatest is 2, for an INT2."""
    network = MovingNetwork(0, (1, 4, 1, 2), "BIPOLAR")
    network.node("GlobalAveragePool", (1, 4, 1, 1))
    network.quant()
    assert layers(network).get_tensor_datatype("x").name == "INT2"


def test_branches_of_one_dimension_meet_as_they_lie():
    network = MovingNetwork(0, (1, 4, 9), "INT4")
    network.node("Conv", (1, 3, 9), network.weights((3, 4, 1)), kernel_shape=[1])
    network.quant()
    left, shape = network.tail, network.shape
    network.node("Sigmoid", shape)
    network.quant()
    network.node("Mul", shape, left)
    network.quant()
    assert check(network).count("Transpose") == 2  # of the input, and of the output


def test_what_several_read_is_moved_once():
    network = MovingNetwork(0, (1, 6, 4), "INT4")
    network.node("Transpose", (1, 4, 6), perm=[0, 2, 1])
    network.quant()
    moved, sums = network.tail, []
    for _ in range(3):
        network.tail, network.shape = moved, (1, 4, 6)
        network.node("MatMul", (1, 4, 2), network.weights((6, 2)))
        sums.append(network.tail)
    network.node("Concat", (1, 4, 6), inputs=sums, axis=2)
    assert check(network).count("Transpose") == 1


def test_a_window_of_several_runs_is_put_together_of_windows():
    network = image()
    network.node("Gather", (1, 3, 4, 6), network.constant([3, 0, 1], np.int64), axis=1)
    assert check(network).count("Slice") == 2


def test_every_other_row_is_a_stride():
    network = image(height=5)
    names = [network.constant([each], np.int64) for each in (1, 5, 2, 2)]
    network.node("Slice", (1, 4, 2, 6), *names)
    network.quant()
    assert check(network).count("Im2Col") == 1


@pytest.mark.parametrize(
    "pads", [[0, 0, 1, 2, 0, 0, 0, 3], [0, 0, -1, 1, 0, 0, 1, -2], [0, 1, 0, 0, 0, 2, 1, 0]]
)
def test_borders_and_windows_of_pads(pads):
    network = image()
    shape = (np.asarray(network.shape) + np.asarray(pads).reshape(2, 4).sum(axis=0)).tolist()
    network.node("Pad", shape, network.constant(pads, np.int64), network.constant(-2.0))
    network.node("Conv", (1, 2, *shape[2:]), network.weights((2, shape[1], 1, 1)), kernel_shape=[1, 1])
    assert check(network).count("Pad") == 1


def test_means_of_windows_with_padding_are_of_what_is_inside():
    network = image()
    network.node(
        "AveragePool",
        (1, 4, 2, 3),
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1, 1, 0, 1],
        count_include_pad=0,
    )
    network.quant()
    assert check(network)[2:5] == ["MatMul", "Mul", "MultiThreshold"]


def test_a_transposed_convolution_is_one_with_a_result_for_each_phase():
    network = image()
    attributes = {"kernel_shape": [4, 4], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    network.node("ConvTranspose", (1, 3, 8, 12), network.weights((4, 3, 4, 4)), **attributes)
    network.quant()
    found = check(network)
    assert [found.count(each) for each in ("Im2Col", "MatMul")] == [1, 1]


def test_a_pool_with_dilation_takes_the_largest_of_rows_of_taps():
    network = image()
    network.node("MaxPool", (1, 4, 2, 4), kernel_shape=[2, 2], strides=[1, 1], dilations=[2, 2])
    found = check(network)
    assert [found.count(each) for each in ("Im2Col", "MaxPoolNHWC")] == [1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda net: net.node("Pad", (1, 4, 5, 6), net.constant([0, 0, 1, 0, 0, 0, 0, 0], np.int64), mode="edge"),
            "no integer layers for node 'Pad_1' (Pad): it repeats values of the image; layers pad with one value: use the "
            "mode constant",
        ),
        (
            lambda net: net.node(
                "Pad", (1, 4, 5, 6), net.constant([0, 0, 1, 0, 0, 0, 0, 0], np.int64), net.constant(0.3)
            ),
            "no integer layers for node 'Pad_1' (Pad): it pads with 0.3, which is not one of its input's possible values: "
            "pad with a whole number times the scale, or quantise with the zero point 0 before it",
        ),
        (
            lambda net: net.node("Resize", (1, 4, 8, 6), "", net.constant([1, 1, 2, 1]), mode="linear"),
            "no integer layers for node 'Resize_1' (Resize): it does more than repeat, or leave out, "
            "whole rows and columns: use the mode nearest",
        ),
        (
            lambda net: net.node("Concat", (1, 8, 4, 6), inputs=[net.tail, net.constant(np.ones((1, 4, 4, 6)))], axis=1),
            "no integer layers for node 'Concat_1' (Concat): one of its parts is constant: leave the "
            "constant part out, and add its contribution to the bias after it",
        ),
    ],
)  # fmt: skip
def test_what_no_layer_does_is_named_with_its_reason(change, message):
    network = image()
    network.node("Relu", network.shape)
    change(network)
    network.quant()
    with pytest.raises(ModelError) as caught:
        layers(network)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("coordinates", "rounding"),
    [
        ("asymmetric", "floor"),
        ("half_pixel", "round_prefer_floor"),
        ("align_corners", "round_prefer_ceil"),
        ("pytorch_half_pixel", "ceil"),
    ],
)
@pytest.mark.parametrize("size", [(6, 6), (3, 12), (7, 4), (2, 3)])
def test_nearest_pixels_by_broken_factors(coordinates, rounding, size):
    network = image()
    sizes = network.constant([1, 4, *size], np.int64)
    modes = {"coordinate_transformation_mode": coordinates, "nearest_mode": rounding, "mode": "nearest"}
    network.node("Resize", (1, 4, *size), "", "", sizes, **modes)
    assert "Resize" not in check(network, 3) or size == (3, 12)
