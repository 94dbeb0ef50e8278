"""Adam on the latent weights, with a softmax loss that is rounded to a grid of 2^-16.

Every operation is either exact or correctly rounded by IEEE 754 (no exp, no pow, no cos), so that two
machines train the same network bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from digits_data import Array, Digits, Labels, shift
from quantised_network import Network, Parameter

GRID = 2.0**16


@dataclass(frozen=True)
class Schedule:
    """How to train.

    Attributes:
        temperature: A logit difference of so many units is a factor of about e in probability.
        rate: The first learning rate, in weight levels; it falls linearly to 0.
        move: The greatest shift of a training image in pixels.
    """

    epochs: int
    seed: int
    temperature: float
    rate: float = 0.06
    batch: int = 64
    move: int = 1


def softmax_gradient(logits: Array, labels: Labels, temperature: float) -> Array:
    """Return the gradient of the cross entropy, (N, 10), in integer units of 2^-16.

    Logits are integers, so exp(-d / temperature) is a table: powers of one ratio, made by multiplication.
    """
    distance = (logits.max(axis=1, keepdims=True) - logits).astype(np.int64)
    ratio = 1.0 - 1.0 / temperature
    powers = np.multiply.accumulate(np.full(int(distance.max()) + 1, ratio)) / ratio
    weights = np.rint(powers * GRID**2)[distance]
    probability = weights / weights.sum(axis=1, keepdims=True)
    target = np.zeros_like(logits)
    target[np.arange(len(labels)), labels] = 1.0
    return np.asarray(np.rint((probability - target) * GRID))


class Adam:
    """Adam (Kingma and Ba, arXiv:1412.6980) on clipped latent parameters."""

    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(self, parameters: list[Parameter]) -> None:
        self.parameters = parameters
        self.power1 = self.power2 = 1.0

    def step(self, rate: float) -> None:
        """Move every parameter against its gradient and clip it to its range."""
        self.power1 *= self.beta1
        self.power2 *= self.beta2
        for p in self.parameters:
            gradient = p.gradient / GRID
            p.mean = self.beta1 * p.mean + (1 - self.beta1) * gradient
            p.square = self.beta2 * p.square + (1 - self.beta2) * gradient * gradient
            size = np.sqrt(p.square / (1 - self.power2)) + self.epsilon
            moved = p.value - rate * p.gain * (p.mean / (1 - self.power1)) / size
            p.value = np.clip(moved, p.low, p.high)


def train(network: Network, digits: Digits, schedule: Schedule) -> None:
    """Train a network in place; the held-out images are not looked at."""
    random = np.random.RandomState(schedule.seed)
    optimiser = Adam(network.parameters())
    steps = schedule.epochs * -(-len(digits.train_x) // schedule.batch)
    reach = range(-schedule.move, schedule.move + 1)
    moved = np.stack([shift(digits.train_x, rows, columns) for rows in reach for columns in reach])
    done = 0
    for _ in range(schedule.epochs):
        order = random.permutation(len(digits.train_x))
        for start in range(0, len(order), schedule.batch):
            chosen = order[start : start + schedule.batch]
            logits = network.forward(moved[random.randint(len(moved), size=len(chosen)), chosen])
            network.backward(softmax_gradient(logits, digits.train_y[chosen], schedule.temperature))
            optimiser.step(schedule.rate * (1.0 - done / steps))
            done += 1
