"""Small networks of the forms that others train, as exporters of PyTorch write them; all scales are powers of two."""

from __future__ import annotations

import numpy as np

from tests.transforms.integer.moving_networks import MovingNetwork


class CommonNetwork(MovingNetwork):
    """A network in the making, of blocks."""

    def __init__(self, shape, seed=0, datatype="UINT4"):
        super().__init__(seed, shape, datatype)

    def quantised(self, bits=4, signed=0, scale=2.0):
        names = [self.constant(each) for each in (scale, 0.0, float(bits))]
        self.node(
            "Quant",
            self.shape,
            *names,
            domain="qonnx.custom_op.general",
            signed=signed,
            narrow=0,
            rounding_mode="ROUND",
        )
        return self

    def conv(self, results, kernel=3, stride=1, group=1, pad=None, dilation=1):
        channels, *size = self.shape[1:]
        axes, pad = len(size), kernel // 2 if pad is None else pad
        shape = [1, results]
        shape += [(each + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for each in size]
        weights = self.weights((results, channels // group, *[kernel] * axes))
        attributes = {
            "kernel_shape": [kernel] * axes,
            "strides": [stride] * axes,
            "pads": [pad] * 2 * axes,
            "dilations": [dilation] * axes,
            "group": group,
        }
        self.node("Conv", shape, weights, **attributes)
        return self

    def norm(self):
        size = self.shape[1]
        parameters = [2.0 ** self.rng.integers(-1, 2, size) * self.rng.choice([-1, 1, 1], size)]
        parameters += [self.rng.integers(-4, 5, size) / 2 for _ in range(2)]
        parameters.append(4.0 ** self.rng.integers(0, 3, size))
        self.node(
            "BatchNormalization", self.shape, *(self.constant(each) for each in parameters), epsilon=0.0
        )
        return self

    def relu(self):
        self.node("Relu", self.shape)
        return self.quantised()

    def dense(self, results):
        self.node("Gemm", [1, results], self.weights((results, self.shape[1])), transB=1)
        return self

    def pool(self, op_type="MaxPool", by=2):
        shape = [*self.shape[:2], *(size // by for size in self.shape[2:])]
        axes = len(shape) - 2
        self.node(op_type, shape, kernel_shape=[by] * axes, strides=[by] * axes)
        return self


def resnet():
    net = CommonNetwork((1, 3, 8, 8))
    net.conv(4).norm().relu()
    for width, stride in ((4, 1), (6, 2)):
        before, shape = net.tail, net.shape
        net.conv(width, stride=stride).norm().relu().conv(width).norm().quantised(signed=1)
        branch, size = net.tail, net.shape
        net.tail, net.shape = before, shape
        if stride > 1:
            net.conv(width, 1, stride, pad=0).norm().quantised(signed=1)
        net.node("Add", size, branch)
        net.relu()
    net.node("GlobalAveragePool", (1, 6, 1, 1))
    net.quantised(scale=0.5)
    net.node("Flatten", (1, 6), axis=1)
    return net.dense(3)


def unet():
    net = CommonNetwork((1, 1, 8, 8))
    net.conv(3).norm().relu()
    skip = net.tail
    net.pool().conv(4).norm().relu()
    net.node("Resize", (1, 4, 8, 8), "", net.constant([1, 1, 2, 2]), mode="nearest")
    net.node("Concat", (1, 7, 8, 8), inputs=[skip, net.tail], axis=1)
    net.conv(3).norm().relu().conv(2, 1)
    net.node("Sigmoid", net.shape)
    return net


def mobilenet():
    net = CommonNetwork((1, 3, 8, 8))
    net.conv(4, stride=2).norm().relu()
    for width, stride in ((6, 1), (8, 2)):
        net.conv(net.shape[1], stride=stride, group=net.shape[1]).norm().relu().conv(width, 1).norm().relu()
    net.node("ReduceMean", (1, 8), axes=[2, 3], keepdims=0)
    return net.quantised(scale=0.5).dense(3)


def keywords():
    net = CommonNetwork((1, 4, 16), datatype="INT8")
    net.quantised(scale=16.0, signed=1)
    net.conv(6, 3).norm().relu().pool().conv(6, 3, dilation=2, pad=2).norm().relu().conv(
        4, 3, 2
    ).norm().relu()
    net.node("GlobalAveragePool", (1, 4, 1))
    net.quantised(scale=0.5)
    net.node("Squeeze", (1, 4), net.constant([2], np.int64))
    return net.dense(5)


def channel_shuffle():
    """A ShuffleNet's unit: half of the channels passes, and channels of the two halves alternate."""
    net = CommonNetwork((1, 6, 6, 6))
    net.conv(6).norm().relu()
    net.node("Split", (1, 3, 6, 6), net.constant([3, 3], np.int64), outputs=2, axis=1)
    passed, net.tail = net.tail, net.tail[:-1] + "1"
    net.conv(3, 1).norm().relu().conv(3, group=3).norm().relu()
    net.node("Concat", (1, 6, 6, 6), inputs=[passed, net.tail], axis=1)
    net.node("Reshape", (1, 2, 3, 6, 6), net.constant([1, 2, 3, 6, 6], np.int64))
    net.node("Transpose", (1, 3, 2, 6, 6), perm=[0, 2, 1, 3, 4])
    net.node("Reshape", (1, 6, 6, 6), net.constant([1, -1, 6, 6], np.int64))
    return net.conv(4, 3, 2).norm().relu()


def super_resolution():
    net = CommonNetwork((1, 1, 6, 6))
    net.conv(6, 5).relu().conv(4, 3).norm().quantised(bits=6, signed=1)
    net.node("DepthToSpace", (1, 1, 12, 12), blocksize=2, mode="CRD")
    return net


def squeeze_excite():
    net = CommonNetwork((1, 3, 6, 6))
    net.conv(4).norm().relu()
    features = net.tail
    net.node("GlobalAveragePool", (1, 4, 1, 1))
    net.quantised(scale=0.5).conv(2, 1).relu().conv(4, 1)
    net.node("HardSigmoid", net.shape)
    net.quantised(scale=0.125, bits=3)
    net.node("Mul", (1, 4, 6, 6), features)
    net.quantised()
    return net.conv(2, 1)


def space_to_depth():
    """A Focus layer, as YOLO has it: every other pixel, four times, side by side."""
    net = CommonNetwork((1, 2, 8, 8))
    start, parts = net.tail, []
    for row in (0, 1):
        for column in (0, 1):
            net.tail, net.shape = start, (1, 2, 8, 8)
            for axis, first in ((2, row), (3, column)):
                shape = list(net.shape)
                shape[axis] = 4
                names = [net.constant([each], np.int64) for each in (first, 1 << 30, axis, 2)]
                net.node("Slice", shape, *names)
            parts.append(net.tail)
    net.node("Concat", (1, 8, 4, 4), inputs=parts, axis=1)
    net.conv(4).norm().relu().pool()
    return net.conv(3, 1)


NETWORKS = (
    channel_shuffle, keywords, mobilenet, resnet, space_to_depth, squeeze_excite, super_resolution, unet
)  # fmt: skip
