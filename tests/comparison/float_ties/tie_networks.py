"""Small quantised networks whose sums lie on ties: the scales of a product and of the quantiser behind it are as 1 to 2."""

from __future__ import annotations

import itertools

import numpy as np
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from tests.hunt.writer import CUSTOM, Tensor, Writer

WEIGHTS = np.array([[1.0, 2.0], [1.0, -1.0], [1.0, 3.0]])


def quantiser(writer, name, shape, scale, bits, zero=0.0, mode="ROUND"):
    names = [name, *(writer.constant(value) for value in (scale, zero, bits))]
    return writer.node("Quant", names, shape, CUSTOM, signed=1, narrow=0, rounding_mode=mode)


def wrapped(writer, outputs, shape=(1, 3), datatype="INT5", integers=()):
    model = ModelWrapper(writer.model([Tensor("x", shape)], outputs, integers))
    model.set_tensor_datatype("x", DataType[datatype])
    return model.transform(InferShapes())


def one_layer(scale, level, mode="ROUND"):
    """(1, 3) INT5 times weights of a scale, quantised with another one."""
    writer = Writer()
    weights = quantiser(writer, writer.constant(WEIGHTS * scale), (3, 2), scale, 4.0)
    product = writer.node("MatMul", ["x", weights.name], (1, 2))
    return wrapped(writer, [quantiser(writer, product.name, (1, 2), level, 4.0, mode=mode)])


def two_layers(scale, level, zero=0.0, mode="ROUND", sign=1.0, logits=False):
    """The same, and a second layer behind it."""
    writer = Writer()
    weights = quantiser(writer, writer.constant(WEIGHTS * scale), (3, 2), scale, 4.0)
    product = writer.node("MatMul", ["x", weights.name], (1, 2))
    turned = writer.node("Mul", [product.name, writer.constant([[sign, 1.0]])], (1, 2))
    inner = quantiser(writer, turned.name, (1, 2), level, 4.0, zero, mode)
    second = quantiser(writer, writer.constant([[0.5, 1.5], [-0.5, 1.0]]), (2, 2), 0.5, 4.0)
    result = writer.node("MatMul", [inner.name, second.name], (1, 2))
    return wrapped(writer, [result if logits else quantiser(writer, result.name, (1, 2), 2 * level, 8.0)])


def samples(step=4):
    """Many inputs of such a network: (samples, 1, 1, 3)."""
    found = itertools.product(range(-16, 16, 5), range(-15, 16, 5), range(-16, 16, step))
    return np.asarray(list(found), np.float32)[:, None]
