"""FINN's 1-bit networks as QONNX, with random weights: TFC (dense layers) and CNV (convolutions and max-pools)."""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save_model

QONNX = "qonnx.custom_op.general"


class Builder:
    """A graph in the making; `tail` is the tensor that the next node reads, `shape` its shape."""

    def __init__(self, shape, seed):
        self.rng = np.random.default_rng(seed)
        self.input_shape = self.shape = list(shape)
        self.tail = "image"
        self.nodes, self.constants, self.tensors = [], [], []

    def constant(self, values, kind=np.float32):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def node(self, op_type, inputs, shape, domain="", outputs=1, **attributes):
        name = f"{op_type}_{len(self.nodes)}"
        given = [f"{name}_out{at}" for at in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, given, name=name, domain=domain, **attributes))
        for one in given:
            self.tensors.append(helper.make_tensor_value_info(one, TensorProto.FLOAT, shape))
        return given[-1]

    def step(self, op_type, others, shape, **attributes):
        self.tail = self.node(op_type, [self.tail, *others], shape, **attributes)
        self.shape = list(shape)

    def signs(self, shape):
        """Return 1-bit weights: a constant behind BipolarQuant."""
        values = self.constant(self.rng.choice([-0.5, 0.5], shape))
        return self.node("BipolarQuant", [values, self.constant(1.0)], list(shape), QONNX)

    def activate(self, spread):
        """Add a BatchNormalization, which also negates some channels, and the sign of what it gives."""
        channels = self.shape[1]
        scale = self.rng.uniform(0.5, 2, channels) * self.rng.choice([-1, 1], channels)
        parts = [scale, self.rng.normal(0, 0.3, channels), self.rng.normal(0, spread / 4, channels)]
        others = [self.constant(part) for part in (*parts, np.full(channels, spread**2))]
        self.step("BatchNormalization", others, self.shape)
        self.step("BipolarQuant", [self.constant(1.0)], self.shape, domain=QONNX)

    def dense(self, size):
        weight = self.signs((self.shape[1], size))
        self.step("MatMul", [weight], [1, size])

    def convolution(self, channels):
        """Add a 3x3 convolution without padding."""
        _, before, height, width = self.shape
        weight = self.signs((channels, before, 3, 3))
        attributes = {
            "kernel_shape": [3, 3],
            "pads": [0] * 4,
            "strides": [1, 1],
            "dilations": [1, 1],
            "group": 1,
        }
        self.step("Conv", [weight], [1, channels, height - 2, width - 2], **attributes)

    def max_pool(self):
        _, channels, height, width = self.shape
        shape = [1, channels, height // 2, width // 2]
        self.step("MaxPool", [], shape, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)

    def save(self, path, input_type):
        """Write the graph, which ends with the number of the greatest value."""
        label = self.node("TopK", [self.tail, self.constant([1], np.int64)], [1, 1], outputs=2, axis=-1)
        self.tensors.pop()
        graph = helper.make_graph(
            self.nodes,
            "binary",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, self.input_shape)],
            [helper.make_tensor_value_info(label, TensorProto.INT64, [1, 1])],
            self.constants,
            value_info=self.tensors,
        )
        annotation = graph.quantization_annotation.add()
        annotation.tensor_name = "image"
        annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=input_type)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(QONNX, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        checker.check_model(model)
        save_model(model, path)
        return path


def tfc(path, sizes=(784, 64, 64, 64, 10), seed=0):
    """Write TFC w1a1: an image of 8-bit pixels, made 1-bit, and dense layers.

    Args:
        sizes: Of the input and of each layer.
    """
    graph = Builder([1, sizes[0]], seed)
    graph.step("Sub", [graph.constant(127.5)], graph.shape)
    graph.step("BipolarQuant", [graph.constant(1.0)], graph.shape, domain=QONNX)
    for at, size in enumerate(sizes[1:], start=1):
        graph.dense(size)
        if at < len(sizes) - 1:
            graph.activate(spread=sizes[at - 1] ** 0.5)
    return graph.save(path, "UINT8")


def cnv(path, channels=(64, 128, 256), dense=(512, 512), size=32, seed=0):
    """Write CNV w1a1: two 3x3 convolutions for each number of channels, a max-pool behind the first two pairs.

    Args:
        channels: Of the three pairs.
        dense: Sizes of the hidden dense layers; ten classes follow.
        size: Of the image, (3, size, size) of 8-bit pixels.
    """
    graph = Builder([1, 3, size, size], seed)
    spread = 147.0  # of a pixel
    for at, count in enumerate(channels):
        for _ in range(2):
            spread *= (9 * graph.shape[1]) ** 0.5
            graph.convolution(count)
            graph.activate(spread)
            spread = 1.0
        if at < 2:
            graph.max_pool()
    graph.step("Flatten", [], [1, int(np.prod(graph.shape))], axis=1)
    for count in dense:
        spread = graph.shape[1] ** 0.5
        graph.dense(count)
        graph.activate(spread)
    graph.dense(10)
    return graph.save(path, "UINT8")
