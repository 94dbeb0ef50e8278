"""Random quantised networks, as others might make them: one for each seed.

They hold dense layers and convolutions (stride, padding, dilation, groups, kernels that are not square), pools, Concat,
Split, residual sums, BatchNorm, ReLU, per-channel factors of any sign and zero, zero points, every rounding mode, 1 to 8
bits, bipolar and ternary weights, batches, images of one pixel, convolutions over one dimension, zero points as ONNX
Runtime chooses them, functions of branches that join without a quantiser, squeeze-and-excite, and an arg-max or a function
at the end. In half of them all scales are
powers of two: their arithmetic is exact in float32, ties are real, and there is one right answer for every bit. Some have
an inner tensor as a second output, and half are written in other forms (`forms.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import ModelProto
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from tests.hunt.forms import as_others_write
from tests.hunt.writer import CUSTOM, Tensor, Writer

MODES = ("FLOOR", "CEIL", "UP", "DOWN", "HALF_UP", "HALF_DOWN", "HALF_EVEN")


@dataclass(frozen=True)
class Network:
    """One random network.

    Attributes:
        seed: What it was made of.
        model: It.
        written: The same, as an exporter may write it; it is what is built.
        datatype: Of the input, by QONNX's name; FLOAT32 where a quantiser follows.
        exact: Whether all scales are powers of two, so that results must be equal in every bit.
        text: Its layers, in words.
    """

    seed: int
    model: ModelProto
    datatype: str
    exact: bool
    text: str
    written: ModelProto | None = None

    def file(self) -> bytes:
        """Return the ONNX file that is built: as it is written, with the input's datatype."""
        made = ModelProto()
        made.CopyFrom(self.written or self.model)
        annotation = made.graph.quantization_annotation.add(tensor_name="x")
        annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=self.datatype)
        return bytes(made.SerializeToString())

    def wrapper(self) -> ModelWrapper:
        """Return a copy of the model, with the input's datatype."""
        wrapper = ModelWrapper(self.model, make_deepcopy=True)
        wrapper.set_tensor_datatype("x", DataType[self.datatype])
        return wrapper

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the input."""
        return tuple(dim.dim_value for dim in self.model.graph.input[0].type.tensor_type.shape.dim)


def random_network(seed: int) -> Network:
    """Return the network of a seed: the same one on every machine."""
    return _Maker(seed).network()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.rare = np.random.default_rng([seed, 1])  # of what few networks have: the others' draws stay
        self.exact = bool(self.chance(0.5))
        self.writer = Writer(named=not self.chance(0.2))
        self.quantised: list[Tensor] = []

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, *choices: object) -> object:
        return choices[int(self.rng.integers(len(choices)))]

    def number(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def network(self) -> Network:
        batch = 1 if self.chance(0.85) else self.number(2, 3)
        if self.rare.random() < 0.12:
            shape: tuple[int, ...] = (batch, self.number(1, 4), self.number(1, 9))
        elif self.chance(0.55):
            side = 1 if self.chance(0.1) else 0
            size = (1, 1) if side else (self.number(1, 7), self.number(1, 7))
            shape = (batch, 1 if self.chance(0.2) else self.number(2, 4), *size)
        else:
            shape = (batch, self.number(1, 8))
        start = Tensor("x", shape)
        datatype, current = self.start(start)
        for _ in range(self.number(1, 3)):
            current = self.block(current)
        outputs, integers = self.end(current)
        inner = [tensor for tensor in self.quantised if tensor not in outputs]
        if inner and self.chance(0.06):
            self.writer.layers.append("second output")
            outputs.append(inner[self.number(0, len(inner) - 1)])
        model = self.writer.model([start], outputs, integers)
        written, forms = as_others_write(model, self.rng) if self.chance(0.5) else (model, [])
        text = ", ".join([*self.writer.layers, *forms])
        return Network(self.seed, model, datatype, self.exact, text, written)

    def start(self, tensor: Tensor) -> tuple[str, Tensor]:
        """Annotate the input with a datatype, or put a quantiser after it."""
        if self.chance(0.3):
            self.writer.layers.append(f"float {list(tensor.shape)}")
            return "FLOAT32", self.quantise(tensor)
        bits = self.number(1, 8)
        kind = "BIPOLAR" if self.chance(0.1) else f"UINT{bits}" if self.chance(0.5) else f"INT{max(bits, 2)}"
        self.writer.layers.append(f"{kind} {list(tensor.shape)}")
        return kind, tensor

    def block(self, tensor: Tensor) -> Tensor:
        """Add a layer, or two branches that meet again, and mostly a quantiser behind it."""
        kind = self.rng.random()
        if self.rare.random() < 0.04 and tensor.is_image:
            return self.quantise(self.squeeze_and_excite(tensor))
        if self.rare.random() < 0.08:
            return self.quantise(self.functions(tensor))
        if kind < 0.1:
            branches = [self.quantise(self.linear(tensor)) for _ in range(2)]
            if branches[0].shape[2:] != branches[1].shape[2:]:
                return branches[0]
            width = sum(branch.channels for branch in branches)
            self.writer.layers.append("Concat")
            shape = (tensor.shape[0], width, *branches[0].shape[2:])
            return self.writer.node("Concat", [branch.name for branch in branches], shape, axis=1)
        if kind < 0.2:
            return self.quantise(self.residual(tensor))
        if kind < 0.27 and tensor.channels > 1:
            return self.split(tensor)
        if kind < 0.4 and tensor.is_image and max(tensor.shape[2:]) > 1:
            return self.pool(tensor)
        return self.quantise(self.linear(tensor))

    def functions(self, tensor: Tensor) -> Tensor:
        """Join a tensor, or a product of it, with a function of it, or of another product, without a quantiser between."""
        inner = tensor if self.rare.random() < 0.5 else self.same_width(tensor, tensor.channels)
        op_type = str(self.rare.choice(["Relu", "Clip", "LeakyRelu", "Sigmoid", "HardSigmoid"]))
        other = inner
        if op_type in ("Relu", "Clip") and self.rare.random() < 0.6:
            other = self.same_width(tensor, tensor.channels)
        joins = "Mul" if op_type.endswith("igmoid") else str(self.rare.choice(["Add", "Sub"]))
        limits = [self.writer.constant(value) for value in (0.0, 6.0)] if op_type == "Clip" else []
        slope = {"alpha": 0.25} if op_type == "LeakyRelu" else {}
        found = self.writer.node(op_type, [other.name, *limits], other.shape, **slope)
        self.writer.layers.append(f"{joins} of a branch of {op_type}")
        return self.writer.node(joins, [inner.name, found.name], inner.shape)

    def squeeze_and_excite(self, tensor: Tensor) -> Tensor:
        """Multiply each channel by a function of the means of all."""
        shape = (*tensor.shape[:2], 1, 1)
        self.writer.layers.append("squeeze")
        means = self.quantise(self.writer.node("GlobalAveragePool", [tensor.name], shape))
        inner = self.same_size(means, self.number(1, 3))
        gate = self.convolution(inner, tensor.channels, plain=True)
        gate = self.quantise(self.writer.node("Sigmoid", [gate.name], shape))
        self.writer.layers.append("excite")
        return self.writer.node("Mul", [tensor.name, gate.name], tensor.shape)

    def on_host(self, tensor: Tensor) -> Tensor:
        """Put a function behind the last layer of a few networks: it, and the scale in front of it, are the host's."""
        if (
            self.exact or self.rare.random() >= 0.3
        ):  # a function rounds in one way here, and in another way there
            return tensor
        op_type = str(self.rare.choice(["LogSoftmax", "Sigmoid", "Softmax", "Tanh"]))
        self.writer.layers.append(op_type)
        axis = {"axis": 1} if op_type.endswith("Softmax") else {}
        return self.writer.node(op_type, [tensor.name], tensor.shape, **axis)

    def residual(self, tensor: Tensor) -> Tensor:
        if self.chance(0.15):
            self.writer.layers.append("Add(t, t)")
            return self.writer.node("Add", [tensor.name, tensor.name], tensor.shape)
        inner = self.quantise(self.linear(tensor))
        outer = inner
        if self.chance(0.5):
            outer = self.same_size(inner, tensor.channels)
        if outer.shape != tensor.shape:
            tensor = inner
            outer = self.same_size(inner, inner.channels)
        self.writer.layers.append("residual Add")
        return self.writer.node("Add", [tensor.name, outer.name], tensor.shape)

    def same_size(self, tensor: Tensor, channels: int) -> Tensor:
        """Add a layer that keeps height and width."""
        if tensor.has_places:
            return self.quantise(self.convolution(tensor, channels, plain=True))
        return self.quantise(self.dense(tensor, channels))

    def split(self, tensor: Tensor) -> Tensor:
        first = self.number(1, tensor.channels - 1)
        sizes = [first, tensor.channels - first]
        shapes = [(tensor.shape[0], size, *tensor.shape[2:]) for size in sizes]
        names = [tensor.name, self.writer.constant(sizes, np.int64)]
        self.writer.layers.append("Split")
        parts = self.writer.split("Split", names, shapes, axis=1)
        if self.chance(0.5):
            parts = [self.quantise(part) if self.chance(0.5) else part for part in parts]
            joined = (tensor.shape[0], tensor.channels, *tensor.shape[2:])
            self.writer.layers.append("Concat")
            return self.writer.node("Concat", [part.name for part in reversed(parts)], joined, axis=1)
        width = self.number(1, 4)
        ends = [self.quantise(self.same_width(part, width)) for part in parts]
        self.writer.layers.append("Add")
        return self.quantise(self.writer.node("Add", [end.name for end in ends], ends[0].shape))

    def same_width(self, tensor: Tensor, width: int) -> Tensor:
        return self.convolution(tensor, width, plain=True) if tensor.has_places else self.dense(tensor, width)

    def pool(self, tensor: Tensor) -> Tensor:
        height, width = tensor.shape[2:]
        if self.chance(0.2):
            self.writer.layers.append("GlobalAveragePool")
            shape = (*tensor.shape[:2], 1, 1)
            return self.quantise(self.writer.node("GlobalAveragePool", [tensor.name], shape))
        kernel = [self.number(1, min(3, height)), self.number(1, min(3, width))]
        if self.chance(0.7):
            kernel = [min(kernel)] * 2
        strides = [kernel[0], kernel[1]] if self.chance(0.5) else [self.number(1, 2), self.number(1, 2)]
        op_type = "MaxPool" if self.chance(0.75) else "AveragePool"
        pads = [0, 0, 0, 0]
        if op_type == "MaxPool" and self.chance(0.25):
            pads = [self.number(0, size // 2) for size in kernel] * 2
        sizes = _sizes((height, width), kernel, strides, pads, [1, 1])
        self.writer.layers.append(f"{op_type} {kernel} stride {strides} pad {pads}")
        pooled = self.writer.node(
            op_type,
            [tensor.name],
            (*tensor.shape[:2], *sizes),
            kernel_shape=kernel,
            strides=strides,
            pads=pads,
        )
        return self.quantise(pooled) if op_type == "AveragePool" or self.chance(0.2) else pooled

    def linear(self, tensor: Tensor) -> Tensor:
        """Add a convolution or a matrix product, and what networks have behind one."""
        width = 1 if self.chance(0.1) else self.number(2, 5)
        result = self.convolution(tensor, width) if tensor.has_places else self.dense(tensor, width)
        if self.chance(0.3):
            result = self.elementwise("Add", result, self.factors(result, zero=True))
        if self.chance(0.25):
            result = self.batch_norm(result)
        if self.chance(0.25):
            result = self.elementwise("Mul", result, self.factors(result, zero=self.chance(0.2)))
        if self.chance(0.4):
            self.writer.layers.append("Relu")
            result = self.writer.node("Relu", [result.name], result.shape)
        return result

    def elementwise(self, op_type: str, tensor: Tensor, values: np.ndarray) -> Tensor:
        self.writer.layers.append(f"{op_type} {'scalar' if values.size == 1 else 'per channel'}")
        return self.writer.node(op_type, [tensor.name, self.writer.constant(values)], tensor.shape)

    def factors(self, tensor: Tensor, zero: bool) -> np.ndarray:
        """Return a constant for each channel or for all, of any sign, and sometimes zero."""
        shape = tensor.along_channels() if self.chance(0.6) else (1,)
        values = self.scales(shape) * self.rng.choice([-1.0, 1.0, 1.0], shape)
        return np.where(self.rng.random(shape) < 0.2, 0.0, values) if zero else values

    def scales(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return positive scales: powers of two if the network is to be exact."""
        if self.exact:
            return 2.0 ** self.rng.integers(-3, 2, shape)
        return np.exp(self.rng.normal(-1.0, 0.7, shape))

    def batch_norm(self, tensor: Tensor) -> Tensor:
        self.writer.layers.append("BatchNormalization")
        shape = (tensor.channels,)
        gamma = self.scales(shape) * self.rng.choice([-1.0, 1.0, 1.0], shape)
        beta, mean = self.scales(shape) - 0.5, self.scales(shape) - 0.25
        # With this epsilon, variance + epsilon is a power of four, and its root a power of two.
        variance = 4.0 ** self.rng.integers(-1, 2, shape) if self.exact else self.scales(shape)
        names = [self.writer.constant(value) for value in (gamma, beta, mean, variance)]
        return self.writer.node(
            "BatchNormalization", [tensor.name, *names], tensor.shape, epsilon=0.0 if self.exact else 1e-5
        )

    def dense(self, tensor: Tensor, width: int) -> Tensor:
        self.writer.layers.append(f"MatMul {tensor.channels}x{width}")
        weights = self.weights((tensor.channels, width), (1, width))
        return self.writer.node("MatMul", [tensor.name, weights], (tensor.shape[0], width))

    def row_convolution(self, tensor: Tensor, width: int, plain: bool) -> Tensor:
        """Add a convolution over one dimension; a plain one keeps its length."""
        size = tensor.shape[2]
        kernel = 1 if plain else self.number(1, min(4, size))
        stride, dilation = (1, 1) if plain else (self.number(1, 3), self.number(1, 2))
        pads = [0, 0] if plain else [self.number(0, kernel - 1), self.number(0, kernel - 1)]
        if (length := _size(size, kernel, stride, sum(pads), dilation)) < 1:
            kernel, stride, dilation, pads, length = 1, 1, 1, [0, 0], size
        group = 1
        if self.chance(0.25) and not plain:
            group, width = tensor.channels, tensor.channels * self.number(1, 2)
        self.writer.layers.append(
            f"Conv1d {tensor.channels}->{width} {kernel} stride {stride} pad {pads} dilation {dilation} group {group}"
        )
        weights = self.weights((width, tensor.channels // group, kernel), (width, 1, 1))
        return self.writer.node(
            "Conv",
            [tensor.name, weights],
            (tensor.shape[0], width, length),
            kernel_shape=[kernel],
            strides=[stride],
            pads=pads,
            dilations=[dilation],
            group=group,
        )

    def convolution(self, tensor: Tensor, width: int, plain: bool = False) -> Tensor:
        """Add a convolution; a plain one keeps height and width."""
        if tensor.is_row:
            return self.row_convolution(tensor, width, plain)
        height, breadth = tensor.shape[2:]
        if plain:
            kernel, strides, dilations = [1, 1], [1, 1], [1, 1]
            pads = [0, 0, 0, 0]
        else:
            kernel = [self.number(1, min(3, height)), self.number(1, min(3, breadth))]
            kernel = [min(kernel)] * 2 if self.chance(0.6) else kernel
            strides = [self.number(1, 2)] * 2 if self.chance(0.8) else [self.number(1, 2), self.number(1, 2)]
            dilations = [self.number(1, 2)] * 2 if self.chance(0.2) else [1, 1]
            pads = [self.number(0, 1)] * 4 if self.chance(0.7) else [self.number(0, 2) for _ in range(4)]
        if any(size < 1 for size in _sizes((height, breadth), kernel, strides, pads, dilations)):
            kernel, strides, dilations, pads = [1, 1], [1, 1], [1, 1], [0, 0, 0, 0]
        group = 1
        if self.chance(0.3) and tensor.channels > 1 and (not plain or width == tensor.channels):
            group = tensor.channels if self.chance(0.7) or tensor.channels % 2 else 2
            width = group * self.number(1, 2) if self.chance(0.4) and not plain else tensor.channels
        self.writer.layers.append(
            f"Conv {tensor.channels}->{width} {kernel} stride {strides} pad {pads} dilation {dilations} group {group}"
        )
        weights = self.weights((width, tensor.channels // group, *kernel), (width, 1, 1, 1))
        shape = (tensor.shape[0], width, *_sizes((height, breadth), kernel, strides, pads, dilations))
        return self.writer.node(
            "Conv",
            [tensor.name, weights],
            shape,
            kernel_shape=kernel,
            strides=strides,
            pads=pads,
            dilations=dilations,
            group=group,
        )

    def weights(self, shape: tuple[int, ...], channels: tuple[int, ...]) -> str:
        """Add quantised weights: 1 to 8 bits, signed or not, narrow (ternary too), or bipolar."""
        bits = self.number(2, 8) if self.chance(0.85) else 1
        scale = self.scales(channels if self.chance(0.3) else (1,))
        if bits == 1 and self.chance(0.7):
            self.writer.layers.append("bipolar weights")
            values = self.writer.constant(self.rng.normal(size=shape))
            names = [values, self.writer.constant(scale)]
            return self.writer.node("BipolarQuant", names, shape, CUSTOM).name
        signed = bits > 1 and self.chance(0.85)
        narrow = signed and self.chance(0.5)
        self.writer.layers.append(
            f"{bits}-bit {'' if signed else 'unsigned '}{'narrow ' if narrow else ''}weights"
        )
        size = 2.0 ** (bits - 1) * float(np.max(scale))
        values = self.writer.constant(self.rng.uniform(-size if signed else 0.0, size, shape))
        return self.quant_node(values, shape, scale, 0.0, bits, signed, narrow, "ROUND").name

    def quantise(self, tensor: Tensor) -> Tensor:
        """Put a quantiser behind a tensor."""
        shape = tensor.along_channels() if self.chance(0.15) else (1,)
        scale = self.scales(shape)
        if self.chance(0.12):
            self.writer.layers.append("BipolarQuant")
            names = [tensor.name, self.writer.constant(scale)]
            result = self.writer.node("BipolarQuant", names, tensor.shape, CUSTOM)
            self.quantised.append(result)
            return result
        bits = self.number(1, 8) if self.chance(0.3) else self.number(2, 5)
        signed = bits > 1 and self.chance(0.55)
        narrow = bits > 1 and self.chance(0.2)
        zero = float(self.number(-3, 3)) if self.chance(0.12) else 0.0
        if self.rare.random() < 0.06:  # as ONNX Runtime quantises activations
            bits, narrow = 8, False
            zero = float(self.rare.integers(-128, 128) if signed else self.rare.integers(0, 256))
        mode = str(self.pick(*MODES)) if self.chance(0.35) else "ROUND"
        self.writer.layers.append(
            f"Quant {'' if signed else 'U'}INT{bits}{' narrow' if narrow else ''} {mode}"
            f"{f' zero {zero:g}' if zero else ''}{' per channel' if scale.size > 1 else ''}"
        )
        result = self.quant_node(tensor.name, tensor.shape, scale, zero, bits, signed, narrow, mode)
        self.quantised.append(result)
        return result

    def quant_node(
        self,
        source: str,
        shape: tuple[int, ...],
        scale: np.ndarray,
        zero: float,
        bits: int,
        signed: bool,
        narrow: bool,
        mode: str,
    ) -> Tensor:
        names = [source, *(self.writer.constant(value) for value in (scale, zero, float(bits)))]
        return self.writer.node(
            "Quant", names, shape, CUSTOM, signed=int(signed), narrow=int(narrow), rounding_mode=mode
        )

    def end(self, tensor: Tensor) -> tuple[list[Tensor], tuple[str, ...]]:
        """Add what gives the outputs: a layer's quantised values, float logits, or an arg-max."""
        if tensor.is_row or (tensor.is_image and self.chance(0.6)):
            size = int(np.prod(tensor.shape[1:]))
            shape = (tensor.shape[0], size)
            self.writer.layers.append("Flatten")
            if self.chance(0.5):
                names = [tensor.name, self.writer.constant([tensor.shape[0], -1], np.int64)]
                tensor = self.writer.node("Reshape", names, shape)
            else:
                tensor = self.writer.node("Flatten", [tensor.name], shape, axis=1)
        kind = self.rng.random()
        if kind < 0.3 and not tensor.is_image and tensor.channels > 1:
            logits = self.dense(tensor, self.number(2, 5))
            self.writer.layers.append("TopK")
            names = [logits.name, self.writer.constant([1], np.int64)]
            shapes = [(logits.shape[0], 1)] * 2
            _values, indices = self.writer.split("TopK", names, shapes, axis=1, largest=1, sorted=1)
            return [indices], (indices.name,)
        if kind < 0.65:
            return [self.on_host(self.linear(tensor))], ()
        return [self.quantise(self.linear(tensor))], ()


def _sizes(
    size: tuple[int, int], kernel: list[int], strides: list[int], pads: list[int], dilations: list[int]
) -> tuple[int, int]:
    """Return height and width behind a window (ONNX, Conv: the floor of the last stride)."""
    found = [
        (size[at] + pads[at] + pads[at + 2] - dilations[at] * (kernel[at] - 1) - 1) // strides[at] + 1
        for at in range(2)
    ]
    return found[0], found[1]


def _size(size: int, kernel: int, stride: int, padded: int, dilation: int) -> int:
    """Return the length behind a window of one dimension."""
    return (size + padded - dilation * (kernel - 1) - 1) // stride + 1
