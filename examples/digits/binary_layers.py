"""Layers of one bit: weights and activations are -1 or 1, and training stays exact integer arithmetic.

A weight is the sign of a latent real number (BinaryConnect, arXiv:1511.00363), an activation the sign of an
accumulator and a bias; backwards, a sign is the identity inside its clipping range.
"""

from __future__ import annotations

import numpy as np
from quantised_network import Array, Parameter, exact_matmul


def signs(values: Array) -> Array:
    """Return 1 where a value is 0 or more, else -1, as BipolarQuant does."""
    return np.where(values >= 0, 1.0, -1.0)


class BinaryDense:
    """A matrix product with weights -1 and 1: (N, fan-in) to accumulators (N, fan-out)."""

    def __init__(self, name: str, fan_in: int, fan_out: int, random: np.random.RandomState) -> None:
        self.name = name
        self.latent = Parameter(random.random_sample((fan_in, fan_out)) * 2 - 1, -1.0, 1.0)

    @property
    def weights(self) -> Array:
        """The weights that the hardware will hold."""
        return signs(self.latent.value)

    def forward(self, x: Array) -> Array:
        """Add inputs up, or subtract them; an image is flattened."""
        self.shape = x.shape
        self.x = x.reshape(len(x), -1)
        return exact_matmul(self.x, self.weights)

    def backward(self, gradient: Array) -> Array:
        """Return the gradient in the shape of the input."""
        self.latent.gradient = exact_matmul(self.x.T, gradient)
        return exact_matmul(gradient, self.weights.T).reshape(self.shape)

    def parameters(self) -> list[Parameter]:
        """List the weights."""
        return [self.latent]


class SignActivation:
    """The sign of an accumulator and a bias, which is half of an odd number, so that the sum is never 0.

    The gradient passes where the sum is inside -2^shift to 2^shift.
    """

    def __init__(self, name: str, channels: int, shift: int) -> None:
        self.name = name
        self.shift = shift
        limit = 2.0 ** (shift + 1)
        self.bias_latent = Parameter(np.zeros(channels), -limit, limit, gain=2.0**shift)

    @property
    def bias(self) -> Array:
        """The bias in accumulator units: n + 1/2 with an integer n, one per channel."""
        return np.asarray(np.floor(self.bias_latent.value) + 0.5)

    def forward(self, x: Array) -> Array:
        """Quantise accumulators (N, channels) to -1 and 1."""
        total = x + self.bias
        self.inside = np.abs(total) <= 2.0**self.shift
        return signs(total)

    def backward(self, gradient: Array) -> Array:
        """Pass the gradient where the sum was in range, on the integer grid that it came on."""
        passed = np.rint(gradient * self.inside * 2.0**-self.shift)
        self.bias_latent.gradient = passed.sum(axis=0)
        return np.asarray(passed)

    def parameters(self) -> list[Parameter]:
        """List the biases."""
        return [self.bias_latent]
