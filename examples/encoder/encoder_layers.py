"""Layers of a quantised transformer, as ops on Tensors: what is trained is what is exported.

Every layer computes in two ways. `quantised`: what the exported graph computes, and hardware after it: integers
times a power of two. Otherwise the float model: the same parameters, with nothing rounded. Quantisation-aware
training uses the straight-through estimator (Bengio et al., arXiv:1308.3432): the gradient takes rounding as the
identity inside the range. Scales are powers of two, so float64 holds every product and sum exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from encoder_ops import StoredLayerNorm, StraightQuant
from quantised_layers import Latent, Layer
from training_ops import ActivationQuant, HalfOdd

from brainsmith.ops import Op, Tensor, functional
from brainsmith.ops.int_quant import IntQuant

_INT_QUANT, _ACTIVATION_QUANT, _STRAIGHT_QUANT = IntQuant(), ActivationQuant(), StraightQuant()
_HALF_ODD, _STORED_LAYER_NORM = HalfOdd(), StoredLayerNorm()


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

    def round(self, x: Tensor, op: Op = _INT_QUANT) -> Tensor:
        """Return the nearest values of the grid, by int_quant or one of its kind; what lies beyond becomes an end."""
        kind = {"signed": self.signed, "narrow": self.narrow}
        rounded: Tensor = Tensor.apply(op, [x, self.scale, 0.0, self.bits], kind)
        return rounded

    def clip(self, x: Tensor) -> Tensor:
        """Cut off what lies beyond the grid, without rounding."""
        clipped: Tensor = functional.clip(x, self.low * self.scale, self.high * self.scale)
        return clipped


def stored(tensor: Tensor) -> Tensor:
    """Return the values as a graph stores them: a constant in float32."""
    return Tensor(tensor.numpy().astype(np.float32))


class Dense(Layer):
    """A product with a matrix of weights (fan-in, fan-out), over the last axis."""

    def __init__(
        self, name: str, fan_in: int, fan_out: int, grid: Grid, random: np.random.RandomState
    ) -> None:
        super().__init__(name)
        self.grid = grid
        start = random.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in)
        self.limit = grid.high * grid.scale
        # A scale that is large (the last layer's logits are integers) starts, and learns, in its own units.
        self.unit = max(1.0, grid.scale)
        self.weight = self.add_parameter("weight", np.clip(start * self.unit, -self.limit, self.limit))

    def forward(self, x: Tensor, quantised: bool) -> Tensor:
        """Multiply (..., fan-in) to (..., fan-out)."""
        return self.named(self.name, x @ (self.rounded() if quantised else self.weight))

    def rounded(self) -> Tensor:
        """Return the weights that the hardware will hold."""
        weight = self.weight if self.frozen is None else self.frozen
        return self.named(f"{self.name}_weight_quant", self.grid.round(weight))

    def latents(self) -> list[Latent]:
        """List the weights."""
        return [Latent(self.weight, 1.0, -self.limit, self.limit, gain=self.unit)]

    def freeze(self) -> None:
        """Round the weights."""
        self.frozen = self.named(f"{self.name}_weight", stored(self.rounded()))


class Quantiser(Layer):
    """Adds a bias to sums of products and rounds them to a grid, with a rectifier if the grid is unsigned.

    `unit` is the real value of one unit of the sums. The bias is an odd number of half units and the grid's
    scale is 2 units or more: no sum lies halfway between two values, where Quant rounds to even and a
    threshold rounds up.
    """

    def __init__(self, name: str, shape: tuple[int, ...], unit: float, grid: Grid) -> None:
        super().__init__(name)
        if grid.scale < 2 * unit:
            raise ValueError(f"{name}: a scale of {grid.scale} leaves no bit to round from units of {unit}")
        self.unit = unit
        self.grid = grid
        self.latent = self.add_parameter("bias", np.zeros(shape))

    def bias(self) -> Tensor:
        """Return the bias that the hardware will hold."""
        bias: Tensor = Tensor.apply(_HALF_ODD, [self.latent], {"unit": self.unit})
        return bias

    def forward(self, x: Tensor, quantised: bool) -> Tensor:
        """Compute the output; the last axes of x are those of the bias."""
        if not quantised:
            return self.grid.clip(x + self.latent)
        if self.frozen is None:
            return self.grid.round(x + self.bias(), _ACTIVATION_QUANT)
        x = self.named(f"{self.name}_add_bias", x + self.frozen)
        if not self.grid.signed:
            x = self.named(f"{self.name}_relu", functional.relu(x))
        return self.named(f"{self.name}_quant", self.grid.round(x))

    def latents(self) -> list[Latent]:
        """List the bias, which reaches as far as the grid."""
        limit = self.grid.scale * (self.grid.high + 1)
        return [Latent(self.latent, 1.0, -limit, limit)]

    def freeze(self) -> None:
        """Round the bias."""
        self.frozen = self.named(f"{self.name}_bias", stored(self.bias()))


class Softmax(Layer):
    """`exp(x) / sum(exp(x))` over the last axis, rounded to an unsigned grid."""

    def __init__(self, name: str, grid: Grid) -> None:
        super().__init__(name)
        self.grid = grid

    def forward(self, x: Tensor, quantised: bool) -> Tensor:
        """Compute probabilities."""
        exact = self.named(self.name, functional.softmax(x))
        return (
            self.named(f"{self.name}_quant", self.grid.round(exact, _STRAIGHT_QUANT)) if quantised else exact
        )


class LayerNorm(Layer):
    """Rows to mean 0 and variance 1, then a scale and a bias per channel, rounded to a grid.

    The scale stays above 0, since a threshold can only take a factor that keeps the order of values.
    """

    epsilon = 1e-5

    def __init__(self, name: str, channels: int, grid: Grid) -> None:
        super().__init__(name)
        self.grid = grid
        self.scale = self.add_parameter("scale", np.ones(channels))
        self.bias = self.add_parameter("bias", np.zeros(channels))
        self.constants: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor, quantised: bool) -> Tensor:
        """Normalise over the last axis, with parameters as float32 holds them."""
        if self.constants is None:
            inputs = [x, self.scale, self.bias]
            y = Tensor.apply(_STORED_LAYER_NORM, inputs, {"epsilon": self.epsilon})
        else:
            y = self.named(self.name, functional.layer_norm(x, *self.constants, epsilon=self.epsilon))
        if not quantised:
            return self.grid.clip(y)
        return self.named(f"{self.name}_quant", self.grid.round(y, _ACTIVATION_QUANT))

    def latents(self) -> list[Latent]:
        """List scale and bias."""
        return [Latent(self.scale, 1.0, 0.25, 4.0), Latent(self.bias, 1.0, -2.0, 2.0)]

    def freeze(self) -> None:
        """Round scale and bias."""
        scale = self.named(f"{self.name}_scale", stored(self.scale))
        self.constants = scale, self.named(f"{self.name}_bias", stored(self.bias))
