"""Random networks that mostly move values: other shapes and orders, parts, windows, borders, one dimension or two.

All scales are powers of two, so that there is one right answer for every bit.
"""

from __future__ import annotations

from math import prod

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

CUSTOM = "qonnx.custom_op.general"


class MovingNetwork:
    """A network in the making: each node reads the tensor `tail` of the shape `shape`."""

    def __init__(self, seed, shape=None, datatype=None):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.text = [], [], []
        shapes = [
            (1, 6),
            (1, 12),
            (1, 4, 6),
            (1, 3, 8),
            (1, 4, 4, 6),
            (1, 3, 6, 4),
            (1, 1, 4, 8),
            (1, 8, 1, 6),
        ]
        self.shape = shape or tuple(self.pick(shapes))
        self.start = self.shape
        self.tail = "x"
        self.datatype = datatype or self.pick(["INT4", "UINT4", "FLOAT32"])
        if self.datatype == "FLOAT32":
            self.quant()

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, op_type, shape, *others, inputs=None, outputs=1, domain="", **attributes):
        at = len(self.nodes)
        results = [f"t{at}"] if outputs == 1 else [f"t{at}_{k}" for k in range(outputs)]
        inputs = [self.tail, *others] if inputs is None else inputs
        self.nodes.append(
            helper.make_node(op_type, inputs, results, name=f"{op_type}_{at}", domain=domain, **attributes)
        )
        self.text.append(f"{op_type}{attributes or ''} {list(shape)}")
        self.tail, self.shape = results[0], tuple(shape)
        return results

    def scales(self, channels):
        """Return powers of two: one, or one for each channel of an axis."""
        if self.rng.random() < 0.6 or len(self.shape) < 2:
            return np.float32(2.0 ** self.rng.integers(-2, 2))
        axis = len(self.shape) - 1 if channels == "last" else 1
        shape = [1] * len(self.shape)
        shape[axis] = self.shape[axis]
        return 2.0 ** self.rng.integers(-2, 2, shape)

    def quant(self, axis="first"):
        if self.rng.random() < 0.1:
            self.node("BipolarQuant", self.shape, self.constant(self.scales(axis)), domain=CUSTOM)
            return
        mode = self.pick(["ROUND", "FLOOR", "CEIL", "HALF_UP"])
        zero = float(self.pick([0, 0, 0, 0, 1, -2]))
        names = [self.constant(each) for each in (self.scales(axis), zero, float(self.pick([2, 3, 4])))]
        signed = int(self.rng.integers(2))
        self.node("Quant", self.shape, *names, domain=CUSTOM, signed=signed, narrow=0, rounding_mode=mode)

    def elementwise(self):
        kind = self.pick(["Mul", "Add", "Relu", "BatchNormalization"])
        if kind == "Relu":
            self.node("Relu", self.shape)
        elif kind == "BatchNormalization":
            if len(self.shape) < 3:
                return
            size = self.shape[1]
            parameters = [2.0 ** self.rng.integers(-1, 2, size) * self.rng.choice([-1, 1], size)]
            parameters += [self.rng.integers(-2, 3, size) / 2 for _ in range(2)]
            parameters.append(4.0 ** self.rng.integers(-1, 2, size))
            self.node(kind, self.shape, *(self.constant(each) for each in parameters), epsilon=0.0)
        else:
            values = self.scales(self.pick(["first", "last"])) * self.rng.choice([-1.0, 1.0])
            self.node(kind, self.shape, self.constant(values))

    def reshape(self):
        total = prod(self.shape)
        shape, left = [1], total
        for _ in range(int(self.rng.integers(1, 4))):
            divisors = [size for size in range(1, left + 1) if left % size == 0]
            size = int(self.pick(divisors))
            shape.append(size)
            left //= size
        shape[-1] *= left
        self.node("Reshape", shape, self.constant(shape, np.int64))

    def transpose(self):
        order = [0, *(1 + self.rng.permutation(len(self.shape) - 1)).tolist()]
        self.node("Transpose", [self.shape[axis] for axis in order], perm=order)

    def _axis(self):
        wide = [axis for axis, size in enumerate(self.shape) if size > 1 and axis]
        return int(self.pick(wide)) if wide else None

    def cut(self):
        axis = self._axis()
        if axis is None:
            return
        size, shape = self.shape[axis], list(self.shape)
        if self.rng.random() < 0.5:
            start, step = int(self.rng.integers(0, size)), int(self.pick([1, 1, 2]))
            end = int(self.rng.integers(start + 1, size + 1))
            shape[axis] = len(range(start, end, step))
            names = [self.constant([each], np.int64) for each in (start, end, axis, step)]
            self.node("Slice", shape, *names)
        else:
            places = self.rng.integers(-size, size, int(self.rng.integers(1, 4)))
            shape[axis] = len(places)
            self.node("Gather", shape, self.constant(places, np.int64), axis=axis)

    def split(self):
        axis = self._axis()
        if axis is None:
            return
        first = int(self.rng.integers(1, self.shape[axis]))
        whole, sizes = self.shape, [first, self.shape[axis] - first]
        self.node("Split", whole, self.constant(sizes, np.int64), outputs=2, axis=axis)
        names = [self.tail, self.tail[:-1] + "1"]
        if self.rng.random() < 0.5:
            self.tail, self.shape = names[1], (*whole[:axis], sizes[1], *whole[axis + 1 :])
            self.elementwise()
            names[1] = self.tail
        self.node("Concat", whole, inputs=names[:: self.pick([1, -1])], axis=axis)

    def join(self):
        """Add a tensor and what something made of it, or put them side by side."""
        before, shape = self.tail, self.shape
        self.quant()
        if self.rng.random() < 0.5:
            self.node("Add", shape, before)
            return
        axis = int(self.rng.integers(1, len(shape)))
        joined = [*shape]
        joined[axis] *= 2
        self.node("Concat", joined, inputs=[before, self.tail], axis=axis)

    def pad(self):
        rank = len(self.shape)
        if rank < 3:
            return
        pads = np.zeros((2, rank), np.int64)
        pads[:, 2:] = self.rng.integers(-1 if min(self.shape[2:]) > 2 else 0, 3, (2, rank - 2))
        if self.rng.random() < 0.2:
            pads[:, 1] = self.rng.integers(0, 2, 2)
        shape = np.asarray(self.shape) + pads.sum(axis=0)
        value = [self.constant(float(self.rng.integers(-2, 3)))] if self.rng.random() < 0.5 else []
        self.node("Pad", shape.tolist(), self.constant(pads.reshape(-1), np.int64), *value)

    def resize(self):
        rank = len(self.shape)
        if rank < 3:
            return
        by = [1, 1, *self.rng.integers(1, 4, rank - 2).tolist()]
        shape = [size * times for size, times in zip(self.shape, by, strict=True)]
        self.node("Resize", shape, "", self.constant(by), mode="nearest")

    def blocks(self):
        if len(self.shape) != 4:
            return
        batch, channels, height, width = self.shape
        if channels % 4 == 0 and self.rng.random() < 0.6:
            shape = (batch, channels // 4, height * 2, width * 2)
            self.node("DepthToSpace", shape, blocksize=2, mode=self.pick(["DCR", "CRD"]))
        elif height % 2 == width % 2 == 0:
            self.node("SpaceToDepth", (batch, channels * 4, height // 2, width // 2), blocksize=2)

    def weights(self, shape):
        scale = 2.0 ** self.rng.integers(-1, 2)
        values = self.constant(self.rng.integers(-3, 4, shape) * scale)
        name = f"w{len(self.nodes)}"
        names = [values, *(self.constant(each) for each in (scale, 0.0, 3.0))]
        self.nodes.append(
            helper.make_node(
                "Quant", names, [name], name=name, domain=CUSTOM, signed=1, narrow=1, rounding_mode="ROUND"
            )
        )
        return name

    def convolution(self):
        axes = len(self.shape) - 2
        if axes not in (1, 2):
            return
        channels, *size = self.shape[1:]
        kernel = [int(self.rng.integers(1, min(3, each) + 1)) for each in size]
        strides = self.rng.integers(1, 3, axes).tolist()
        pads = self.rng.integers(0, 2, 2 * axes).tolist()
        group = channels if self.rng.random() < 0.3 else 1
        results = channels if group > 1 else int(self.pick([1, 2, 4]))
        shape = [1, results]
        shape += [
            (size[at] + pads[at] + pads[at + axes] - kernel[at]) // strides[at] + 1 for at in range(axes)
        ]
        weights = self.weights((results, channels // group, *kernel))
        bias = [self.constant(self.rng.integers(-2, 3, results))] if self.rng.random() < 0.4 else []
        self.node("Conv", shape, weights, *bias, kernel_shape=kernel, strides=strides, pads=pads, group=group)
        self.quant()

    def transposed(self):
        axes = len(self.shape) - 2
        if axes not in (1, 2):
            return
        channels, *size = self.shape[1:]
        kernel, strides = self.rng.integers(1, 4, axes), self.rng.integers(1, 4, axes)
        more = np.minimum(self.rng.integers(0, 2, axes), strides - 1)
        dilations = self.rng.integers(1, 3, axes) if self.rng.random() < 0.3 else np.ones(axes, np.int64)
        pads = self.rng.integers(0, 2, 2 * axes)
        group = int(self.pick([each for each in (1, 2, channels) if channels % each == 0]))
        results = int(self.rng.integers(1, 3))
        out = (np.asarray(size) - 1) * strides + dilations * (kernel - 1) + 1 + more
        out -= pads[:axes] + pads[axes:]
        if out.min() < 1:
            return
        weights = self.weights((channels, results, *kernel))
        bias = [self.constant(self.rng.integers(-2, 3, results * group))] if self.rng.random() < 0.4 else []
        lists = {
            "kernel_shape": kernel,
            "strides": strides,
            "dilations": dilations,
            "pads": pads,
            "output_padding": more,
        }
        attributes = {name: each.tolist() for name, each in lists.items()}
        self.node(
            "ConvTranspose", [1, results * group, *out.tolist()], weights, *bias, group=group, **attributes
        )
        self.quant()

    def pool(self):
        axes = len(self.shape) - 2
        if axes not in (1, 2):
            return
        size = np.asarray(self.shape[2:])
        kernel = np.asarray([int(self.rng.integers(1, min(3, each) + 1)) for each in size])
        strides = kernel if self.rng.random() < 0.4 else self.rng.integers(1, 4, axes)
        kind = self.pick(["MaxPool", "AveragePool"])
        attributes = {"ceil_mode": int(self.rng.random() < 0.2)}
        dilations = np.ones(axes, np.int64)
        if kind == "MaxPool" and self.rng.random() < 0.3:
            dilations = self.rng.integers(1, 3, axes)
            attributes["dilations"] = dilations.tolist()
        if kind == "AveragePool":
            attributes["count_include_pad"] = int(self.rng.integers(2))
        begin, end = (self.rng.integers(0, (kernel + 1) // 2) for _ in range(2))
        room = size + begin + end - dilations * (kernel - 1) - 1
        if room.min() < 0:
            return
        places = room // strides + 1
        if attributes["ceil_mode"]:
            places = -(-room // strides) + 1
            if ((places - 1) * strides >= size + begin).any():
                return
        attributes["pads"] = [*begin.tolist(), *end.tolist()]
        shape = [*self.shape[:2], *places.tolist()]
        self.node(kind, shape, kernel_shape=kernel.tolist(), strides=strides.tolist(), **attributes)
        if kind == "AveragePool":
            self.quant()

    def reduce(self):
        rank = len(self.shape)
        kind = self.pick(
            ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "GlobalAveragePool", "GlobalMaxPool"]
        )
        if kind.startswith("Global"):
            if rank > 2:
                self.node(kind, [*self.shape[:2], *[1] * (rank - 2)])
        else:
            axes = sorted(self.rng.choice(np.arange(1, rank), int(self.rng.integers(1, rank)), replace=False))
            keep = int(self.rng.integers(2)) if rank - len(axes) > 1 else 1
            shape = [
                1 if at in axes else size for at, size in enumerate(self.shape) if keep or at not in axes
            ]
            axes = [int(axis) for axis in axes]
            if kind == "ReduceSum":
                self.node(kind, shape, self.constant(axes, np.int64), keepdims=keep)
            else:
                self.node(kind, shape, axes=axes, keepdims=keep)
        self.quant()

    def product(self):
        results = int(self.pick([2, 3, 4]))
        self.node("MatMul", [*self.shape[:-1], results], self.weights((self.shape[-1], results)))
        if self.rng.random() < 0.3:
            self.elementwise()
        self.quant("last")

    KINDS = (
        "elementwise", "quant", "reshape", "reshape", "transpose", "transpose", "cut", "split", "join", "pad", "resize",
        "blocks", "convolution", "convolution", "pool", "pool", "product", "reduce", "transposed",
    )  # fmt: skip

    def grow(self, steps):
        for _ in range(steps):
            if prod(self.shape) > 600:
                break
            getattr(self, str(self.pick(self.KINDS)))()
        return self

    def model(self):
        if not self.nodes:
            self.node("Relu", self.shape)
        graph = helper.make_graph(
            self.nodes,
            "moving",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.start)],
            [helper.make_tensor_value_info(self.tail, TensorProto.FLOAT, self.shape)],
            self.constants,
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(CUSTOM, 1)]
        made = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
        made.set_tensor_datatype("x", DataType[self.datatype])
        return made

    def samples(self, count):
        if self.datatype == "FLOAT32":
            return (self.rng.integers(-64, 64, (count, *self.start)) / 8).astype(np.float32)
        kind = DataType[self.datatype]
        return self.rng.integers(int(kind.min()), int(kind.max()) + 1, (count, *self.start)).astype(
            np.float32
        )
