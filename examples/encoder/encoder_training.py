"""Adam with a softmax cross entropy, whose gradient the tape carries back; the held-out images are not looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from digits_data import Digits, shift
from encoder_network import Encoder
from encoder_ops import ClassLoss
from quantised_layers import Latent

from brainsmith.ops import Tensor


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

    def __init__(self, latents: list[Latent]) -> None:
        self.moments = [(p, np.zeros(p.tensor.shape), np.zeros(p.tensor.shape)) for p in latents]
        self.power1 = self.power2 = 1.0

    def step(self, rate: float) -> None:
        """Move every parameter against its gradient and back into its range."""
        self.power1 *= self.beta1
        self.power2 *= self.beta2
        for p, mean, square in self.moments:
            gradient = p.take_gradient()
            mean += (1 - self.beta1) * (gradient - mean)
            square += (1 - self.beta2) * (gradient * gradient - square)
            size = np.sqrt(square / (1 - self.power2)) + self.epsilon
            p.move(rate * p.gain * (mean / (1 - self.power1)) / size)


def train(network: Encoder, digits: Digits, schedule: Schedule) -> None:
    """Train a network in place, always as the quantised one."""
    random = np.random.RandomState(schedule.seed)
    optimiser = Adam(network.latents())
    loss = ClassLoss()
    steps = schedule.epochs * -(-len(digits.train_x) // schedule.batch)
    reach = range(-schedule.move, schedule.move + 1)
    moved = np.stack([shift(digits.train_x, rows, columns) for rows in reach for columns in reach])[..., 0]
    done = 0
    for _ in range(schedule.epochs):
        order = random.permutation(len(digits.train_x))
        for start in range(0, len(order), schedule.batch):
            chosen = order[start : start + schedule.batch]
            logits = network(Tensor(moved[random.randint(len(moved), size=len(chosen)), chosen]))
            units = {"temperature": schedule.temperature}
            Tensor.apply(loss, [logits, digits.train_y[chosen]], units).backward()
            optimiser.step(schedule.rate * (1.0 - done / steps))
            done += 1
