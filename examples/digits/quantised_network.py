"""Quantised layers whose forward and backward passes are exact integer arithmetic.

Activations, weights, accumulators and gradients are integers, held in float64 so that numpy multiplies them
with BLAS. No sum reaches 2^53, which is checked, so no rounding happens, no order of summation matters, and
training gives the same bits on every machine.

Quantisation-aware training with the straight-through estimator (Bengio et al., arXiv:1308.3432): the forward
pass rounds a latent real weight, the backward pass treats rounding as the identity inside the clipping range.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

EXACT = 2.0**53


def exact_matmul(a: Array, b: Array) -> Array:
    """Multiply two matrices of integers; raise ArithmeticError if a sum could leave the exact range."""
    bound = a.shape[-1] * float(np.abs(a).max(initial=0.0)) * float(np.abs(b).max(initial=0.0))
    if bound >= EXACT:
        raise ArithmeticError(f"a product of {a.shape} and {b.shape} may need more than 53 bits")
    product: Array = a @ b
    return product


def check_exact(sums: Array, name: str) -> Array:
    """Return integers as they are; raise ArithmeticError if a sum left the exact range."""
    if float(np.abs(sums).max(initial=0.0)) >= EXACT:
        raise ArithmeticError(f"a sum of {name!r} needs more than 53 bits")
    return sums


def integer_range(bits: int, narrow: bool) -> tuple[int, int]:
    """Return the least and the greatest signed integer of a width; narrow leaves out the least one."""
    high = 2 ** (bits - 1) - 1
    return (-high if narrow else -high - 1), high


@dataclass
class Parameter:
    """A latent real array and the step that one unit of learning rate makes on it."""

    value: Array
    low: float
    high: float
    gain: float = 1.0
    gradient: Array = field(init=False)
    mean: Array = field(init=False)
    square: Array = field(init=False)

    def __post_init__(self) -> None:
        self.gradient = np.zeros_like(self.value)
        self.mean = np.zeros_like(self.value)
        self.square = np.zeros_like(self.value)


class Layer(Protocol):
    """One layer: integers in, integers out, and integer gradients back."""

    name: str

    def forward(self, x: Array) -> Array:
        """Compute the output, and keep what the backward pass needs."""

    def backward(self, gradient: Array) -> Array:
        """Fill the parameters' gradients; return the gradient with respect to the input."""

    def parameters(self) -> list[Parameter]:
        """List what is trained."""


class Weighted:
    """The signed narrow-range integer weights of a matrix product, shape (fan-in, fan-out)."""

    def __init__(self, fan_in: int, fan_out: int, bits: int, random: np.random.RandomState) -> None:
        self.bits = bits
        low, high = integer_range(bits, narrow=True)
        start = random.random_sample((fan_in, fan_out)) * (high - low) + low
        self.latent = Parameter(start * 0.75, low, high)

    @property
    def integers(self) -> Array:
        """The weights that the hardware will hold."""
        return np.asarray(np.rint(self.latent.value))


class Dense:
    """A matrix product: (N, fan-in) to accumulators (N, fan-out). An image is flattened in NHWC order."""

    def __init__(
        self, name: str, fan_in: int, fan_out: int, bits: int, random: np.random.RandomState
    ) -> None:
        self.name = name
        self.weight = Weighted(fan_in, fan_out, bits, random)

    def forward(self, x: Array) -> Array:
        """Multiply by the integer weights."""
        self.shape = x.shape
        self.x = x.reshape(len(x), -1)
        return exact_matmul(self.x, self.weight.integers)

    def backward(self, gradient: Array) -> Array:
        """Return the gradient in the shape of the input."""
        self.weight.latent.gradient = exact_matmul(self.x.T, gradient)
        return exact_matmul(gradient, self.weight.integers.T).reshape(self.shape)

    def parameters(self) -> list[Parameter]:
        """List the weights."""
        return [self.weight.latent]


class Conv:
    """A 3x3 convolution in NHWC: (N, H, W, C) to accumulators (N, H', W', fan-out), as a matrix product."""

    kernel = 3

    def __init__(
        self,
        name: str,
        channels: tuple[int, int],
        stride: int,
        pad: int,
        bits: int,
        random: np.random.RandomState,
    ) -> None:
        self.name = name
        self.channels = channels
        self.stride = stride
        self.pad = pad
        self.weight = Weighted(self.kernel**2 * channels[0], channels[1], bits, random)

    def forward(self, x: Array) -> Array:
        """Multiply every 3x3 window by the integer weights; the border is padded with 0."""
        padded = np.pad(x, ((0, 0), (self.pad, self.pad), (self.pad, self.pad), (0, 0)))
        self.padded_shape = padded.shape
        windows = np.lib.stride_tricks.sliding_window_view(padded, (self.kernel, self.kernel), axis=(1, 2))
        windows = windows[:, :: self.stride, :: self.stride].transpose(0, 1, 2, 4, 5, 3)
        self.grid = windows.shape[:3]
        self.columns = windows.reshape(-1, self.weight.latent.value.shape[0])
        return exact_matmul(self.columns, self.weight.integers).reshape(*self.grid, -1)

    def backward(self, gradient: Array) -> Array:
        """Add each window's gradient to the pixels that it covers."""
        flat = gradient.reshape(-1, gradient.shape[-1])
        self.weight.latent.gradient = exact_matmul(self.columns.T, flat)
        windows = exact_matmul(flat, self.weight.integers.T)
        windows = windows.reshape(*self.grid, self.kernel, self.kernel, self.channels[0])
        _, rows, columns = self.grid
        padded = np.zeros(self.padded_shape)
        for i in range(self.kernel):
            for j in range(self.kernel):
                last_row, last_column = i + self.stride * rows, j + self.stride * columns
                padded[:, i : last_row : self.stride, j : last_column : self.stride] += windows[:, :, :, i, j]
        height, width = self.padded_shape[1:3]
        return padded[:, self.pad : height - self.pad, self.pad : width - self.pad]

    def parameters(self) -> list[Parameter]:
        """List the weights."""
        return [self.weight.latent]


class Activation:
    """Bias, division by a power of two, and rounding to a signed integer of a few bits.

    The bias is half of an odd number of accumulator units, so that the scaled value never lies halfway
    between two integers: rounding to even (Quant) and comparing with thresholds (hardware) always agree.
    """

    def __init__(self, name: str, channels: int, shift: int, bits: int) -> None:
        self.name = name
        self.shift = shift
        self.bits = bits
        limit = 2.0 ** (shift + bits - 1)
        self.bias_latent = Parameter(np.zeros(channels), -limit, limit, gain=2.0**shift)

    @property
    def bias(self) -> Array:
        """The bias in accumulator units: n + 1/2 with an integer n, one per channel."""
        return np.asarray(np.floor(self.bias_latent.value) + 0.5)

    def forward(self, x: Array) -> Array:
        """Quantise accumulators (N, ..., channels)."""
        low, high = integer_range(self.bits, narrow=False)
        scaled = (x + self.bias) * 2.0**-self.shift
        self.inside = (scaled >= low - 0.5) & (scaled <= high + 0.5)
        return np.asarray(np.clip(np.rint(scaled), low, high))

    def backward(self, gradient: Array) -> Array:
        """Pass the gradient where the value was not clipped, on the integer grid that it came on."""
        passed = np.rint(gradient * self.inside * 2.0**-self.shift)
        self.bias_latent.gradient = passed.reshape(-1, passed.shape[-1]).sum(axis=0)
        return np.asarray(passed)

    def parameters(self) -> list[Parameter]:
        """List the biases."""
        return [self.bias_latent]


class Network:
    """Layers one after the other; the input is an image (N, 8, 8, 1) of integers 0 to 16.

    With `labels` the network itself chooses the class: its exported graph ends in an arg-max.
    """

    input_bits = 4

    def __init__(self, name: str, layers: list[Layer], labels: bool = False) -> None:
        self.name = name
        self.layers = layers
        self.labels = labels

    def forward(self, images: Array) -> Array:
        """Compute integer logits (N, 10). The input is centred and clipped to INT4, as the graph does."""
        low, high = integer_range(self.input_bits, narrow=False)
        x: Array = np.clip(images - 8, low, high)
        for layer in self.layers:
            x = layer.forward(x)
        return x.reshape(len(x), -1)

    def backward(self, gradient: Array) -> None:
        """Fill all gradients from that of the logits, an array of integers (N, 10)."""
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)

    def parameters(self) -> list[Parameter]:
        """List what is trained, first layer first."""
        return [parameter for layer in self.layers for parameter in layer.parameters()]

    def predict(self, images: Array) -> NDArray[np.int64]:
        """Return the class of each image: the first of the greatest logits."""
        return np.asarray(self.forward(images).argmax(axis=1))
