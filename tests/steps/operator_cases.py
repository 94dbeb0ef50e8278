"""A small network for each operator that docs/operators.md lists, to see what becomes of it."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from tests.steps.conftest import QONNX, Graph, integers
from tests.steps.test_networks import Network, enlarged, looked_up, split


def image():
    """Return an image of quantised values."""
    return Network(1, 2, 8, 8).levels(4, 0.5).convolution(1, 2, 4).positive(4, 2.0)


def pixels(graph, height=8):
    """End an image's network with a product over channels."""
    return graph.levels(4, 2.0).convolution(9, 4, 2, size=1).model(1, 2, height, height)


def vector():
    """Return a vector of quantised values."""
    return Network(1, 8).levels(4, 0.5).product(1, 8, 8).levels(4, 4.0)


def sums(graph):
    """End a vector's network with a product."""
    return graph.levels(4, 4.0).product(9, 8, 3).model(1, 3)


def applied(op_type, *others, **attributes):
    """Return a vector's network with an operator in its middle."""
    return lambda: sums(vector().node(op_type, *others, **attributes))


def forked(op_type):
    """Return a network where an operator joins two branches."""

    def make():
        graph = vector()
        fork = graph.tail
        graph.product(2, 8, 8).levels(4, 4.0)
        return sums(graph.node(op_type, fork))

    return make


def of_image(op_type, height=8, **attributes):
    """Return an image's network with an operator in its middle."""
    return lambda: pixels(image().node(op_type, **attributes), height)


def reduced(op_type, *others, **attributes):
    """Return an image's network that reduces all pixels to one vector."""

    def make():
        graph = image().node(op_type, *others, **attributes)
        if attributes.get("keepdims") == 0:
            return graph.levels(6, 0.25).product(3, 4, 4).model(1, 4)
        return graph.levels(6, 0.25).flat().product(3, 4, 4).model(1, 4)

    return make


def normalised():
    return sums(vector().node("LayerNormalization", np.ones(8), np.zeros(8), axis=-1, epsilon=1e-5))


def batch_norm():
    graph = Network(1, 2, 8, 8).levels(4, 0.5).convolution(1, 2, 4)
    graph.node("BatchNormalization", np.full(4, 0.7), np.full(4, 0.2), np.full(4, 0.1), np.full(4, 1.3))
    return pixels(graph.positive(4, 2.0))


def one_bit(op_type):
    def make():
        graph = Network(1, 8)
        graph.node(op_type, 1.0, domain=QONNX)
        weights = graph.constant(np.sign(integers(1, 8, 8) + 0.5))
        tail, graph.tail = graph.tail, weights
        name = graph.node(op_type, 1.0, domain=QONNX).tail
        graph.tail = tail
        return graph.node("MatMul", name).model(1, 8)

    return make


def truncated():
    """Return an average of four pixels as Brevitas exports it: a pool, and a Trunc behind it."""
    graph = Graph(1, 4, 8, 8)
    graph.node("Quant", 1.0, 0.0, 4.0, domain=QONNX, signed=0, narrow=0, rounding_mode="ROUND")
    graph.node("AveragePool", kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    graph.node("Mul", 4.0).node("Trunc", 1.0, 0.0, 6.0, 4.0, domain=QONNX, rounding_mode="FLOOR")
    weights = graph.weights(integers(9, 2, 4, 1, 1))
    return graph.node("Conv", weights, kernel_shape=[1, 1]).model(1, 2, 4, 4, datatype="UINT4")


def dequantised():
    """Return a network whose activations are quantised as ONNX Runtime writes it."""
    graph = vector().product(5, 8, 8)
    graph.constants.append(numpy_helper.from_array(np.int8(0), "zero"))
    graph.node("QuantizeLinear", 4.0, "zero").node("DequantizeLinear", 4.0, "zero")
    return graph.product(9, 8, 3).model(1, 3)


def dense():
    graph = vector()
    weights = graph.weights(integers(3, 8, 3))
    return graph.node("Gemm", weights, integers(4, 3)).model(1, 3)


def shuffled():
    graph = Network(1, 4, 8).levels(4, 0.5).product(1, 8, 6).levels(4, 4.0)
    return graph.node("Transpose", perm=[0, 2, 1]).product(2, 4, 4).model(1, 6, 4)


def attended():
    graph = Network(1, 4, 8).levels(4, 0.5)
    fork = graph.tail
    one = graph.product(1, 8, 4).levels(4, 4.0).tail
    graph.tail = fork
    graph.product(2, 8, 4).levels(4, 4.0).node("Transpose", perm=[0, 2, 1])
    two = graph.tail
    graph.tail = one
    return graph.node("MatMul", two).levels(4, 16.0).product(3, 4, 3).model(1, 4, 3)


def largest():
    graph = vector().product(3, 8, 5).largest()
    return graph.of_integers(1, 1)


def place_of_the_largest():
    graph = vector().product(3, 8, 5).node("ArgMax", axis=-1, keepdims=1)
    return graph.of_integers(1, 1)


def moved(op_type, height, width, channels, *others, **attributes):
    """Return an image's network with an operator that moves its pixels, to an image of the given size."""

    def make():
        graph = image()
        operands = [graph.whole(other) if isinstance(other, list) else other for other in others]
        graph.node(op_type, *operands, **attributes)
        return graph.levels(4, 2.0).convolution(9, channels, 2, size=1).model(1, 2, height, width)

    return make


def deconvolved():
    graph = image()
    weights = graph.weights(integers(5, 4, 4, 2, 2))
    graph.node("ConvTranspose", weights, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    return pixels(graph.levels(4, 4.0), 16)


def expanded():
    graph = image().node("GlobalAveragePool").levels(4, 0.5)
    return pixels(graph.node("Expand", graph.whole([1, 4, 8, 8])))


def joined():
    graph = vector()
    fork = graph.tail
    one = graph.product(2, 8, 8).levels(4, 4.0).tail
    graph.tail = fork
    return graph.product(3, 8, 8).levels(4, 4.0).node("Concat", one, axis=1).product(4, 16, 3).model(1, 3)


def several(op_type):
    """Return a vector's network where an operator joins three branches."""

    def make():
        graph = vector()
        fork, branches = graph.tail, []
        for seed in (2, 3):
            graph.tail = fork
            branches.append(graph.product(seed, 8, 8).levels(4, 4.0).tail)
        graph.tail = fork
        return sums(graph.node(op_type, *branches))

    return make


CIRCUITS = {
    "Add": forked("Add"),
    "ArgMax": place_of_the_largest,
    "AveragePool": truncated,
    "BatchNormalization": batch_norm,
    "BipolarQuant": one_bit("BipolarQuant"),
    "Clip": applied("Clip", -2.0, 6.0),
    "Concat": joined,
    "Conv": lambda: pixels(image()),
    "ConvTranspose": deconvolved,
    "DepthToSpace": moved("DepthToSpace", 16, 16, 1, blocksize=2),
    "DequantizeLinear": dequantised,
    "Div": applied("Div", 3.0),
    "Dropout": applied("Dropout"),
    "Elu": applied("Elu"),
    "Expand": expanded,
    "Flatten": lambda: image().node("Flatten").product(3, 256, 3).model(1, 3),
    "Gather": looked_up,
    "Gemm": dense,
    "GlobalAveragePool": reduced("GlobalAveragePool"),
    "GlobalMaxPool": reduced("GlobalMaxPool"),
    "HardSigmoid": applied("HardSigmoid"),
    "Identity": applied("Identity"),
    "LeakyRelu": applied("LeakyRelu", alpha=0.1),
    "MatMul": attended,
    "MaxPool": of_image("MaxPool", 4, kernel_shape=[2, 2], strides=[2, 2]),
    "Mean": several("Mean"),
    "Mul": applied("Mul", 0.7),
    "Neg": applied("Neg"),
    "PRelu": applied("PRelu", np.linspace(0, 0.5, 8)),
    "Pad": moved("Pad", 10, 11, 4, [0, 0, 1, 1, 0, 0, 1, 2]),
    "Quant": lambda: sums(vector()),
    "QuantizeLinear": dequantised,
    "ReduceMax": reduced("ReduceMax", axes=[2, 3], keepdims=0),
    "ReduceMean": reduced("ReduceMean", axes=[2, 3], keepdims=0),
    "ReduceMin": reduced("ReduceMin", axes=[2, 3], keepdims=0),
    "Relu": lambda: pixels(image()),
    "Reshape": lambda: image().flat().product(3, 256, 3).model(1, 3),
    "Resize": lambda: pixels(enlarged(image()), 16),
    "Selu": applied("Selu"),
    "Sigmoid": applied("Sigmoid"),
    "Slice": moved("Slice", 5, 8, 4, [1], [6], [2]),
    "Softplus": applied("Softplus"),
    "SpaceToDepth": moved("SpaceToDepth", 4, 4, 16, blocksize=2),
    "Split": split,
    "Sub": applied("Sub", 0.3),
    "Sum": several("Sum"),
    "Tanh": applied("Tanh"),
    "Tile": moved("Tile", 16, 8, 4, [1, 1, 2, 1]),
    "TopK": largest,
    "Transpose": shuffled,
    "Trunc": truncated,
}
"""A network with each operator, by its name: it becomes a circuit."""

ESTIMATES = {
    "LayerNormalization": normalised,
    "Softmax": applied("Softmax", axis=-1),
}
"""A network with each operator that has layers in HLS only: it has estimates, and no circuit."""
