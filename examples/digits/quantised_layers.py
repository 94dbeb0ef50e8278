"""Quantised layers, as ops on Tensors: what is trained is what is exported.

A real value is an integer times a power of two, the scale of its tensor, held in float64: so nothing is rounded but where
an op says so. Training is quantisation-aware with straight-through estimators (Bengio et al., arXiv:1308.3432): a
quantiser rounds a latent weight (of one bit: takes its sign, as in BinaryConnect, arXiv:1511.00363) and hands the
gradient through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from digits_data import Array
from training_ops import ActivationQuant, HalfOdd, OnGrid, SignQuant

from brainsmith.ops import CustomLayer, Op, Tensor, execute_custom_op, functional

_HALF_ODD, _ON_GRID, _ACTIVATION_QUANT, _SIGN_QUANT = HalfOdd(), OnGrid(), ActivationQuant(), SignQuant()


def _apply(op: Op, inputs: list[Any], attributes: Mapping[str, Any]) -> Tensor:
    """Run an op that is not registered, as no exported graph needs it by its name."""
    result: Tensor = Tensor.apply(op, inputs, attributes)
    return result


def _in_float32(tensor: Tensor) -> Tensor:
    """Return the values in the dtype of a graph, which holds them exactly."""
    return Tensor(tensor.numpy().astype(np.float32))


@dataclass
class Latent:
    """A parameter in training: real, and clipped to `low` and `high` levels.

    Attributes:
        unit: The real value of one level.
        gain: How many levels one unit of learning rate moves it.
    """

    tensor: Tensor
    unit: float
    low: float
    high: float
    gain: float = 1.0

    def take_gradient(self) -> Array:
        """Return the gradient per level, and forget it."""
        gradient, self.tensor.grad = self.tensor.grad, None
        assert gradient is not None
        return np.asarray(gradient * self.unit)

    def move(self, levels: Array) -> None:
        """Subtract so many levels, and clip."""
        moved = np.clip(self.tensor.data / self.unit - levels, self.low, self.high)
        self.tensor.data = moved * self.unit


class Layer(CustomLayer):
    """A layer that knows the real value of its integers.

    Attributes:
        results: What it computed last, by the names that an exported graph has for it.
        frozen: What a circuit holds of the parameter, in float32; None in training.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.results: dict[str, Tensor] = {}
        self.frozen: Tensor | None = None

    def named(self, name: str, result: Tensor) -> Tensor:
        """Return a result, and note its name."""
        self.results[name] = result
        return result

    def connect(self, scale: float, following: Layer | None) -> float:
        """Take the scale of what comes in, and the layer behind; return the scale of what goes out."""
        return scale

    def latents(self) -> list[Latent]:
        """List what is trained."""
        return []

    def freeze(self) -> None:
        """Round the parameter, if there is one, and compute with that from now on."""


class Weighted(Layer):
    """Signed weights of a narrow range, or of one bit.

    Args:
        levels: Their first values, in units of the scale that `connect` chooses.
    """

    def __init__(self, name: str, levels: Array, bits: int) -> None:
        super().__init__(name)
        self.bits = bits
        self.latent = self.add_parameter("weight", levels)

    def connect(self, scale: float, following: Layer | None) -> float:
        """Choose the scale so that the accumulators fit the activation behind, or else are integers."""
        wanted = 1.0
        if isinstance(following, Activation) and following.bits > 1:
            wanted = following.accumulator_scale
        self.scale = wanted / scale
        self.latent.data = self.latent.data * self.scale
        return scale * self.scale

    def weight(self) -> Tensor:
        """Return the weights that a circuit holds."""
        weight = self.latent if self.frozen is None else self.frozen
        if self.bits == 1:
            weight = execute_custom_op("bipolar_quant", [weight, self.scale])
        else:
            weight = execute_custom_op("int_quant", [weight, self.scale, 0.0, self.bits], narrow=True)
        return self.named(f"{self.name}_weight_quant", weight)

    def latents(self) -> list[Latent]:
        """List the weights."""
        high = greatest_weight(self.bits)
        return [Latent(self.latent, self.scale, -high, high)]

    def freeze(self) -> None:
        """Round the weights."""
        self.frozen = self.named(f"{self.name}_weight", _in_float32(self.weight()))


def greatest_weight(bits: int) -> int:
    """Return the greatest level of a weight; its negative is the least."""
    return max((1 << bits - 1) - 1, 1)


def random_levels(random: np.random.RandomState, fan_in: int, fan_out: int, bits: int) -> Array:
    """Draw the first levels of weights, (fan-in, fan-out): from the inner range or, of one bit, from -1 to 1."""
    high = greatest_weight(bits)
    drawn = random.random_sample((fan_in, fan_out)) * 2 * high - high
    return np.asarray(drawn * (1.0 if bits == 1 else 0.75))


class Dense(Weighted):
    """A matrix product: (N, fan-in) to accumulators (N, fan-out); an image is flattened, channel by channel."""

    def __init__(
        self,
        name: str,
        fan_in: int,
        fan_out: int,
        bits: int,
        random: np.random.RandomState,
        channels: int = 1,
    ) -> None:
        # Drawn pixel by pixel, as those of a convolution are.
        drawn = random_levels(random, fan_in, fan_out, bits).reshape(-1, channels, fan_out)
        super().__init__(name, drawn.transpose(1, 0, 2).reshape(fan_in, fan_out), bits)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the weights."""
        if x.ndim > 2:
            x = self.named("flatten", functional.flatten(x))
        return self.named(self.name, x @ self.weight())


class Conv(Weighted):
    """A 3x3 convolution with a border of zeros: (N, C, H, W) to accumulators (N, fan-out, H, W)."""

    size = 3

    def __init__(
        self, name: str, channels: tuple[int, int], bits: int, random: np.random.RandomState
    ) -> None:
        fan_in, fan_out = channels
        drawn = random_levels(random, self.size**2 * fan_in, fan_out, bits)
        super().__init__(name, drawn.reshape(self.size, self.size, *channels).transpose(3, 2, 0, 1), bits)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply every window by the weights."""
        return self.named(self.name, functional.conv2d(x, self.weight(), padding=1))


class Activation(Layer):
    """Bias, division by a power of two, and rounding to a signed integer of a few bits, or to -1 and 1.

    Args:
        shape: Of the bias: (channels,), or (1, channels, 1, 1) for images.
        shift: Accumulators are divided by 2^shift. Of one bit, the gradient passes from -2^shift to 2^shift.
    """

    def __init__(self, name: str, shape: tuple[int, ...], shift: int, bits: int) -> None:
        super().__init__(name)
        self.shift, self.bits = shift, bits
        self.scale = 2.0 ** (1 - bits)  # for a range of about -1 to 1
        self.latent = self.add_parameter("bias", np.zeros(shape))

    @property
    def accumulator_scale(self) -> float:
        """The scale that accumulators need for what goes out to have its own."""
        return self.scale * 2.0**-self.shift

    def connect(self, scale: float, following: Layer | None) -> float:
        """Note the accumulators' scale, which is that of the bias too."""
        self.unit = scale
        if self.bits > 1:
            self.scale = scale * 2.0**self.shift
        return self.scale

    def forward(self, x: Tensor) -> Tensor:
        """Quantise accumulators."""
        if self.frozen is None:
            x = _apply(_ON_GRID, [x + self._bias()], {"unit": self.unit})
        else:
            x = self.named(f"{self.name}_add_bias", x + self.frozen)
        return self.named(f"{self.name}_quant", self._quantise(x))

    def _bias(self) -> Tensor:
        return _apply(_HALF_ODD, [self.latent], {"unit": self.unit})

    def _quantise(self, x: Tensor) -> Tensor:
        if self.bits == 1:
            return _apply(_SIGN_QUANT, [x, self.scale], {"reach": 2.0**self.shift * self.unit})
        return _apply(_ACTIVATION_QUANT, [x, self.scale, 0.0, self.bits], {})

    def latents(self) -> list[Latent]:
        """List the biases, which reach as far as the activation's range."""
        limit = 2.0 ** (self.shift + max(self.bits - 1, 1))
        return [Latent(self.latent, self.unit, -limit, limit, gain=2.0**self.shift)]

    def freeze(self) -> None:
        """Round the biases."""
        self.frozen = self.named(f"{self.name}_bias", _in_float32(self._bias()))
