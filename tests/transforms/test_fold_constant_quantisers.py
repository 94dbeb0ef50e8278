"""Quantised constants keep QONNX's values, whatever form FINN takes them in."""

import numpy as np
import pytest
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from brainsmith.transforms.fold_constant_quantisers import FoldConstantQuantisers
from tests.transforms.quantised_nets import CUSTOM, Net, kinds, run

VALUES = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def weights(net, values=VALUES, scale=0.25, zero=0.0, bits=4, signed=1, mode="ROUND", op_type="Quant"):
    tail, net.tail, last = net.tail, net.constant(values), net.last_shape()
    others = (scale,) if op_type == "BipolarQuant" else (scale, zero, float(bits))
    more = {} if op_type == "BipolarQuant" else {"signed": signed, "narrow": 0, "rounding_mode": mode}
    name = net.node(op_type, *others, domain=CUSTOM, shape=np.shape(values), **more).tail
    net.tail, net.last = tail, last
    return name


def product(**parameters):
    net = Net(1, 4, datatype="INT4")
    return net.node("MatMul", weights(net, **parameters), shape=[1, 3]).model()


def samples(count=50, low=-8, high=8, shape=(1, 4)):
    return np.random.default_rng(1).integers(low, high, (count, *shape)).astype(np.float32)


@pytest.mark.parametrize(
    ("parameters", "integers"),
    [
        ({}, True),
        ({"zero": 3.0}, True),
        ({"zero": -2.0, "signed": 0}, True),
        ({"scale": [0.25, -0.5, 1.0]}, True),
        ({"scale": [0.25, -0.5, 1.0], "zero": 1.0}, True),
        ({"op_type": "BipolarQuant", "scale": -0.5}, True),
        ({"op_type": "IntQuant", "mode": "CEIL"}, True),
        ({"scale": [[0.25], [0.5], [1.0], [2.0]]}, False),
        ({"zero": 0.5}, False),
    ],
)
def test_weights_compute_what_qonnx_computes(parameters, integers):
    model = product(**parameters)
    expected = run(model, samples())
    changed = steps.qonnx_to_finn(model, None)
    np.testing.assert_array_equal(run(changed, samples()), expected)
    (layer,) = changed.get_nodes_by_op_type("MatMul")
    values = changed.get_initializer(layer.input[1])
    assert np.array_equal(values, np.rint(values)) == integers


def test_a_quantised_constant_that_several_read_is_folded():
    net = Net(1, 3, datatype="INT4")
    shared = weights(net, VALUES[0])
    model = net.node("Add", shared).node("Mul", shared).model()
    expected = run(model, samples(shape=(1, 3)))
    changed = model.transform(FoldConstantQuantisers())
    assert kinds(changed) == ["Add", "Mul"]
    np.testing.assert_array_equal(run(changed, samples(shape=(1, 3))), expected)


@pytest.mark.parametrize("count", [2, 3])
def test_products_that_share_weights_keep_integers(count):
    net = Net(1, 4, datatype="INT4")
    shared = weights(net, np.random.default_rng(2).normal(size=(4, 4)), scale=[0.25, 0.5, 0.125, 1.0])
    for _ in range(count):
        net.node("MatMul", shared, shape=[1, 4])
    model = net.model()
    expected = run(model, samples())
    changed = steps.qonnx_to_finn(model, None)
    np.testing.assert_array_equal(run(changed, samples()), expected)
    layers = changed.get_nodes_by_op_type("MatMul")
    assert len(layers) == count
    for layer in layers:
        values = changed.get_initializer(layer.input[1])
        assert np.array_equal(values, np.rint(values))


def test_a_divisor_is_folded():
    """FINN would multiply behind the Div by what it must divide by."""
    net = Net(1, 3, datatype="INT4")
    model = net.node("Div", weights(net, np.asarray([1.0, 2.0, -1.0]), scale=0.5)).model()
    expected = run(model, samples(shape=(1, 3)))
    np.testing.assert_array_equal(run(steps.qonnx_to_finn(model, None), samples(shape=(1, 3))), expected)


def test_a_scale_of_zero_is_refused():
    with pytest.raises(ModelError) as caught:
        product(scale=[0.5, 0.0, 1.0]).transform(InferShapes()).transform(FoldConstantQuantisers())
    assert str(caught.value) == "Quant 'quant0' quantises a constant with a scale that is 0 or not finite"
