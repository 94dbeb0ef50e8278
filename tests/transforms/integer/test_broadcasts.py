"""Branches of other sizes, operators of several tensors, and slopes of channels: layers compute what the network does."""

import numpy as np
import pytest
from onnx import numpy_helper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.transforms.quantised_nets import Net, kinds


def same(net):
    """Check that a network and its layers compute the same; return the layers."""
    model = net.model()
    made = steps.cleanup(model, None).transform(IntegerLayers()).transform(InferShapes())
    random, shape = np.random.default_rng(0), model.get_tensor_shape("x")
    drawn = random.integers(-32, 32, (12, *shape)), np.full((1, *shape), -32), np.full((1, *shape), 31)
    for frame in np.concatenate(drawn).astype(np.float32):
        (expected,), (found,) = (execute_onnx(each, {"x": frame}).values() for each in (model, made))
        assert (found == expected).all()
    return made


def smaller(net, axes):
    """Leave a network's tensor as it is, and return the name of the sums of it over axes, of 6 bits."""
    tail, last = net.tail, net.last_shape()
    shape = [1 if at in axes else size for at, size in enumerate(last)]
    name = net.constant(0)
    net.constants[-1].CopyFrom(numpy_helper.from_array(np.asarray(axes, np.int64), name))
    net.node("ReduceSum", name, shape=shape, keepdims=1).quant(4.0, bits=6)
    found, net.tail, net.last = net.tail, tail, last
    return found


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Max"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((1, 3, 4, 5), (2, 3)),
        ((1, 3, 4, 5), (1,)),
        ((1, 3, 4, 5), (3,)),
        ((1, 3, 4, 5), (1, 2, 3)),
        ((1, 4, 5), (1,)),
        ((1, 4, 5), (2,)),
        ((1, 7), (1,)),
    ],
)
def test_a_branch_with_one_place_along_axes_is_repeated(op_type, shape, axes):
    net = Net(*shape)
    net.quant(2.0, bits=4)
    same(net.node(op_type, smaller(net, axes), shape=shape).quant(2.0, bits=6))


def test_two_branches_may_each_be_repeated():
    net = Net(1, 3, 4, 5)
    net.quant(2.0, bits=4)
    rows, columns = smaller(net, (2,)), smaller(net, (3,))
    net.tail = rows
    same(net.node("Mul", columns, shape=[1, 3, 4, 5]).quant(8.0, bits=6))


@pytest.mark.parametrize("sizes", [(1, 3, 4, 4), (1, 6, 1, 1)])
def test_expand_and_tile_repeat(sizes):
    net = Net(1, 3, 1, 1)
    whole = [np.asarray(sizes), np.asarray(sizes) // (1, 3, 1, 1)]
    op_type, operand = ("Expand", whole[0]) if sizes[1] == 3 else ("Tile", whole[1])
    name = net.constant(0)
    net.constants[-1].CopyFrom(numpy_helper.from_array(operand.astype(np.int64), name))
    same(net.quant(2.0).node(op_type, name, shape=sizes).quant(4.0))


@pytest.mark.parametrize("op_type", ["Sum", "Mean", "Max", "Min"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_an_operator_of_several_tensors_is_one_of_two_after_the_other(op_type, count):
    net = Net(1, 5)
    net.quant(2.0, bits=4)
    fork, branches = net.tail, []
    for number in range(1, count):
        net.tail = fork
        weights = net.weights(np.random.default_rng(number).integers(-3, 4, (5, 5)), 1.0, 3)
        branches.append(net.node("MatMul", weights, shape=[1, 5]).quant(4.0, bits=5).tail)
    net.tail = fork
    made = same(net.node(op_type, *branches, shape=[1, 5]).quant(2.0, bits=6))
    assert not {"Sum", "Mean", "Min"} & set(kinds(made))


@pytest.mark.parametrize("slopes", [[0.25], [0.25, 0.0, 0.5], [0.25, -0.5, 1.5]])
@pytest.mark.parametrize("quantised", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_the_slopes_of_a_prelu_follow_its_channels(slopes, quantised, turned):
    net = Net(1, 4, 2, 3) if turned else Net(1, 3, 4, 2)
    if turned:  # the last axis is the channels', of an image whose second one it is
        net.node("Transpose", shape=[1, 3, 4, 2], perm=[0, 3, 1, 2])
    net.node("PRelu", np.reshape(slopes, (-1, 1, 1)), shape=[1, 3, 4, 2])
    same(net.quant(3.0, bits=5) if quantised else net)


def test_what_cannot_be_repeated_is_refused_by_name():
    net = Net(1, 2, 1, 2, 1, 3)
    shape = [1, 2, 2, 2, 2, 3]
    net.quant()
    name = net.constant(0)
    net.constants[-1].CopyFrom(numpy_helper.from_array(np.asarray(shape), name))
    model = net.node("Expand", name, shape=shape).quant(4.0).model()
    with pytest.raises(ModelError, match=r"node 'expand1' \(Expand\): values of the shape"):
        steps.cleanup(model, None).transform(IntegerLayers())


def test_an_input_of_more_than_four_axes_is_a_row():
    shape = (1, 2, 3, 2, 2)
    same(Net(*shape).quant(2.0, bits=4).node("Relu", shape=shape).quant(3.0))


def test_an_input_of_one_axis_is_a_row():
    net = Net(6).quant(2.0, bits=4)
    weights = net.weights(np.random.default_rng(0).integers(-3, 4, (6, 4)), 1.0, 3)
    same(net.node("MatMul", weights, shape=[4]).quant(3.0))


def test_an_input_without_axes_is_refused_by_name():
    model = Net().quant(2.0).model()
    with pytest.raises(ModelError, match="input 'x': it is one number without axes: give it an axis or two"):
        steps.cleanup(model, None).transform(IntegerLayers())
