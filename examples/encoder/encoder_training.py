"""Adam with a softmax cross entropy; the held-out images are not looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from digits_data import Array, Digits, Labels, shift
from encoder_layers import Parameter
from encoder_network import Encoder


@dataclass(frozen=True)
class Schedule:
    """How to train.

    Attributes:
        temperature: A difference of so many units between two logits is a factor of e in probability.
        rate: The first learning rate; it falls linearly to 0.
        move: The greatest shift of a training image in pixels.
    """

    epochs: int
    seed: int
    temperature: float
    rate: float
    batch: int = 64
    move: int = 1


class Adam:
    """Adam (Kingma and Ba, arXiv:1412.6980) on parameters with bounds."""

    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(self, parameters: list[Parameter]) -> None:
        self.moments = [(p, np.zeros_like(p.value), np.zeros_like(p.value)) for p in parameters]
        self.power1 = self.power2 = 1.0

    def step(self, rate: float) -> None:
        """Move every parameter against its gradient and back into its range."""
        self.power1 *= self.beta1
        self.power2 *= self.beta2
        for p, mean, square in self.moments:
            mean += (1 - self.beta1) * (p.gradient - mean)
            square += (1 - self.beta2) * (p.gradient * p.gradient - square)
            size = np.sqrt(square / (1 - self.power2)) + self.epsilon
            moved = p.value - rate * p.gain * (mean / (1 - self.power1)) / size
            p.value = np.clip(moved, p.low, p.high)


def loss_gradient(logits: Array, labels: Labels, temperature: float) -> Array:
    """Return the gradient of the mean cross entropy with respect to the logits, times the temperature."""
    powers = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    gradient = powers / powers.sum(axis=1, keepdims=True)
    gradient[np.arange(len(labels)), labels] -= 1.0
    return np.asarray(gradient / len(labels))


def train(network: Encoder, digits: Digits, schedule: Schedule) -> None:
    """Train a network in place, always as the quantised one."""
    random = np.random.RandomState(schedule.seed)
    optimiser = Adam(network.parameters())
    steps = schedule.epochs * -(-len(digits.train_x) // schedule.batch)
    reach = range(-schedule.move, schedule.move + 1)
    moved = np.stack([shift(digits.train_x, rows, columns) for rows in reach for columns in reach])[..., 0]
    done = 0
    for _ in range(schedule.epochs):
        order = random.permutation(len(digits.train_x))
        for start in range(0, len(order), schedule.batch):
            chosen = order[start : start + schedule.batch]
            logits = network.forward(moved[random.randint(len(moved), size=len(chosen)), chosen])
            network.backward(loss_gradient(logits, digits.train_y[chosen], schedule.temperature))
            optimiser.step(schedule.rate * (1.0 - done / steps))
            done += 1
