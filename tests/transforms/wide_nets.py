"""Small networks whose integers are beyond 2^24, with what they give by exact arithmetic of Python's integers."""

from dataclasses import dataclass

import numpy as np

from tests.transforms.quantised_nets import Net

TERMS, CHANNELS, SIZE = 40, 4, 6


@dataclass(frozen=True)
class WideCase:
    """A network, samples, and of each the exact integers in front of the last operators and the result."""

    model: object
    samples: np.ndarray
    sums: np.ndarray
    wanted: np.ndarray


def _rows(random, count=6, terms=TERMS):
    return random.integers(-(2**15), 2**15, (count, 1, terms)).astype(np.float32)


def _weights(random, *shape, bits=15):
    return random.integers(-(2**bits), 2**bits, shape).astype(np.float64)


def levels(sums, bits, low_bit):
    """Return the levels of a quantiser of scale 2^low_bit, of Python's integers: half to even."""

    def level(value):
        whole, rest = divmod(int(value), 2**low_bit)
        half = 2 ** (low_bit - 1)
        up = rest > half or (rest == half and whole % 2)
        return min(max(whole + up, -(2 ** (bits - 1))), 2 ** (bits - 1) - 1) * 2**low_bit

    return np.vectorize(level, otypes=[object])(sums).astype(np.float32)


def _product(random, results=TERMS, scale=1.0):
    net, weights = Net(1, TERMS, datatype="INT16"), _weights(random, TERMS, results)
    samples = _rows(random)
    net.node("MatMul", net.weights(weights * scale, scale, 16), shape=[1, results])
    return net, samples, samples.astype(int).astype(object) @ weights.astype(int).astype(object)


def output(random):
    net, samples, sums = _product(random, 5)
    return WideCase(net.model(), samples, sums, sums.astype(np.float32))


def scaled_output(random):
    net, samples, sums = _product(random, 5, scale=2.0**-7)
    return WideCase(net.model(), samples, sums, sums.astype(np.float32) * np.float32(2.0**-7))


def residual_sum(random):
    net, samples, sums = _product(random)
    sums = sums + samples.astype(int).astype(object)
    net.node("Add", "x", shape=[1, TERMS]).quant(2.0**27, bits=6)
    return WideCase(net.model(), samples, sums, levels(sums, 6, 27))


def residual_output(random):
    net, samples, sums = _product(random)
    sums = sums + samples.astype(int).astype(object)
    return WideCase(net.node("Add", "x", shape=[1, TERMS]).model(), samples, sums, sums.astype(np.float32))


def _image(random, depthwise, bits=16):
    net = Net(1, CHANNELS, SIZE, SIZE, datatype=f"INT{bits}")
    shape = (CHANNELS, 1 if depthwise else CHANNELS, 3, 3)
    weights = _weights(random, *shape, bits=13)
    samples = random.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), (6, 1, CHANNELS, SIZE, SIZE)).astype(
        np.float32
    )
    held = net.weights(weights, 1.0, 14)
    group = CHANNELS if depthwise else 1
    net.node("Conv", held, shape=net.shape, kernel_shape=[3, 3], pads=[1] * 4, group=group)
    padded = np.pad(samples[:, 0].astype(np.int64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    whole, path = weights.astype(np.int64), "nchwij,cij->nchw" if depthwise else "nchwij,fcij->nfhw"
    return net, samples, np.einsum(path, windows, whole[:, 0] if depthwise else whole)[:, None]


def depthwise(random):
    net, samples, sums = _image(random, True)
    return WideCase(net.quant(2.0**26, bits=5).model(), samples, sums, levels(sums, 5, 26))


def depthwise_output(random):
    net, samples, sums = _image(random, True)
    return WideCase(net.model(), samples, sums, sums.astype(np.float32))


def _pooled(sums, function):
    parts = sums.reshape(*sums.shape[:3], SIZE // 2, 2, SIZE // 2, 2)
    return function(parts, axis=(4, 6))


def greatest(random):
    net, samples, sums = _image(random, False)
    shape = [1, CHANNELS, SIZE // 2, SIZE // 2]
    net.node("Relu", shape=net.shape).node("MaxPool", shape=shape, kernel_shape=[2, 2], strides=[2, 2])
    sums = _pooled(sums, np.max)
    wanted = levels(np.maximum(sums, 0), 6, 25)
    return WideCase(net.quant(2.0**25, bits=6).model(), samples, sums, wanted)


def average(random):
    net, samples, sums = _image(random, False)
    shape = [1, CHANNELS, SIZE // 2, SIZE // 2]
    net.node("AveragePool", shape=shape, kernel_shape=[2, 2], strides=[2, 2])
    sums = _pooled(sums, np.sum)
    return WideCase(net.quant(2.0**24, bits=7).model(), samples, sums, levels(sums, 7, 26) / 4)


def global_sum(random):
    net, samples, sums = _image(random, False)
    net.node("GlobalAveragePool", shape=[1, CHANNELS, 1, 1]).node(
        "Mul", float(SIZE * SIZE), shape=[1, CHANNELS, 1, 1]
    )
    sums = sums.sum(axis=(3, 4), keepdims=True)
    return WideCase(net.quant(2.0**27, bits=6).model(), samples, sums, levels(sums, 6, 27))


def flattened(random):
    net, samples, sums = _image(random, False)
    net.node("Flatten", shape=[1, CHANNELS * SIZE * SIZE])
    sums = sums.reshape(len(sums), 1, -1)
    return WideCase(net.model(), samples, sums, sums.astype(np.float32))


CASES = (
    output, scaled_output, residual_sum, residual_output, depthwise, depthwise_output, greatest, average, global_sum,
    flattened,
)  # fmt: skip
