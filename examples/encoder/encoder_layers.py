"""Layers of a quantised transformer with their backward passes, in numpy.

Every layer computes in two ways. `quantised`: what the exported graph computes, and hardware after it: integers
times a power of two. Otherwise the float model: the same parameters, with nothing rounded. Quantisation-aware
training uses the straight-through estimator (Bengio et al., arXiv:1308.3432): the backward pass takes rounding as
the identity inside the range. Scales are powers of two, so float64 holds every product and sum exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Parameter:
    """A trained real array, its bounds, and the step that one unit of learning rate makes on it."""

    value: Array
    low: float
    high: float
    gain: float = 1.0
    gradient: Array = field(init=False)

    def __post_init__(self) -> None:
        self.gradient = np.zeros_like(self.value)


@dataclass(frozen=True)
class Grid:
    """The values `scale * n` with an integer n of `bits` bits.

    `narrow` leaves out the least signed integer, so that the range is symmetric.
    """

    bits: int
    scale: float
    signed: bool = True
    narrow: bool = False

    @property
    def low(self) -> int:
        """The least integer."""
        return int(self.narrow) - (1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """The greatest integer."""
        return (1 << (self.bits - int(self.signed))) - 1

    def round(self, x: Array) -> Array:
        """Return the nearest values of the grid; what lies beyond becomes the nearest end."""
        return np.asarray(np.clip(np.rint(x / self.scale), self.low, self.high) * self.scale)

    def clip(self, x: Array) -> Array:
        """Cut off what lies beyond the grid, without rounding."""
        return np.asarray(np.clip(x, self.low * self.scale, self.high * self.scale))

    def covers(self, x: Array) -> NDArray[np.bool_]:
        """Tell which values round to the grid without being cut off."""
        n = x / self.scale
        return np.asarray((n >= self.low - 0.5) & (n <= self.high + 0.5))


class Dense:
    """A product with a matrix of weights (fan-in, fan-out), over the last axis."""

    def __init__(
        self, name: str, fan_in: int, fan_out: int, grid: Grid, random: np.random.RandomState
    ) -> None:
        self.name = name
        self.grid = grid
        start = random.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in)
        limit = grid.high * grid.scale
        # A scale that is large (the last layer's logits are integers) starts, and learns, in its own units.
        unit = max(1.0, grid.scale)
        self.weight = Parameter(np.clip(start * unit, -limit, limit), -limit, limit, gain=unit)

    @property
    def rounded(self) -> Array:
        """The weights that the hardware will hold."""
        return self.grid.round(self.weight.value)

    def forward(self, x: Array, quantised: bool) -> Array:
        """Multiply (..., fan-in) to (..., fan-out)."""
        self.x = x
        self.used = self.rounded if quantised else self.weight.value
        return np.asarray(x @ self.used)

    def backward(self, gradient: Array) -> Array:
        """Fill the weights' gradient; return that of the input."""
        rows = self.x.reshape(-1, self.x.shape[-1])
        self.weight.gradient = rows.T @ gradient.reshape(len(rows), -1)
        return np.asarray(gradient @ self.used.T)

    def parameters(self) -> list[Parameter]:
        """List the weights."""
        return [self.weight]


class Quantiser:
    """Adds a bias to sums of products and rounds them to a grid, with a rectifier if the grid is unsigned.

    `unit` is the real value of one unit of the sums. The bias is an odd number of half units and the grid's
    scale is 2 units or more: no sum lies halfway between two values, where Quant rounds to even and a
    threshold rounds up.
    """

    def __init__(self, name: str, shape: tuple[int, ...], unit: float, grid: Grid) -> None:
        if grid.scale < 2 * unit:
            raise ValueError(f"{name}: a scale of {grid.scale} leaves no bit to round from units of {unit}")
        self.name = name
        self.unit = unit
        self.grid = grid
        limit = grid.scale * (grid.high + 1)
        self.latent = Parameter(np.zeros(shape), -limit, limit)

    @property
    def bias(self) -> Array:
        """The bias that the hardware will hold."""
        return np.asarray((np.floor(self.latent.value / self.unit) + 0.5) * self.unit)

    def forward(self, x: Array, quantised: bool) -> Array:
        """Compute the output; the last axes of x are those of the bias."""
        if not quantised:
            return self.grid.clip(x + self.latent.value)
        moved = x + self.bias
        self.inside = self.grid.covers(moved)
        return self.grid.round(moved)

    def backward(self, gradient: Array) -> Array:
        """Pass the gradient where the value was not cut off."""
        passed = np.asarray(gradient * self.inside)
        self.latent.gradient = passed.reshape(-1, *self.latent.value.shape).sum(axis=0)
        return passed

    def parameters(self) -> list[Parameter]:
        """List the bias."""
        return [self.latent]


class Softmax:
    """`exp(x) / sum(exp(x))` over the last axis, rounded to an unsigned grid."""

    def __init__(self, name: str, grid: Grid) -> None:
        self.name = name
        self.grid = grid

    def forward(self, x: Array, quantised: bool) -> Array:
        """Compute probabilities."""
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        self.exact = powers / powers.sum(axis=-1, keepdims=True)
        return self.grid.round(self.exact) if quantised else self.exact

    def backward(self, gradient: Array) -> Array:
        """Return the gradient of the unrounded probabilities."""
        shared = (gradient * self.exact).sum(axis=-1, keepdims=True)
        return np.asarray(self.exact * (gradient - shared))


class LayerNorm:
    """Rows to mean 0 and variance 1, then a scale and a bias per channel, rounded to a grid.

    The scale stays above 0, since a threshold can only take a factor that keeps the order of values.
    """

    epsilon = 1e-5

    def __init__(self, name: str, channels: int, grid: Grid) -> None:
        self.name = name
        self.grid = grid
        self.scale = Parameter(np.ones(channels), 0.25, 4.0)
        self.bias = Parameter(np.zeros(channels), -2.0, 2.0)

    def forward(self, x: Array, quantised: bool) -> Array:
        """Normalise over the last axis, with parameters as float32 holds them."""
        centred = x - x.mean(axis=-1, keepdims=True)
        self.deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + self.epsilon)
        self.normal = centred / self.deviation
        y = self.normal * self.scale.value.astype(np.float32) + self.bias.value.astype(np.float32)
        if not quantised:
            return self.grid.clip(y)
        self.inside = self.grid.covers(y)
        return self.grid.round(y)

    def backward(self, gradient: Array) -> Array:
        """Fill the gradients of scale and bias; return that of the input."""
        passed = gradient * self.inside
        channels = len(self.bias.value)
        self.bias.gradient = passed.reshape(-1, channels).sum(axis=0)
        self.scale.gradient = (passed * self.normal).reshape(-1, channels).sum(axis=0)
        inner = passed * self.scale.value
        along = (inner * self.normal).mean(axis=-1, keepdims=True)
        return np.asarray((inner - inner.mean(axis=-1, keepdims=True) - self.normal * along) / self.deviation)

    def parameters(self) -> list[Parameter]:
        """List scale and bias."""
        return [self.scale, self.bias]
