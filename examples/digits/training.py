"""Adam on the latent parameters of a network; `loss.backward()` gives it the gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from digits_data import Digits, shift
from quantised_layers import Latent
from quantised_network import Network
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from training_ops import ClassLoss

from brainsmith.ops import Tensor


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


class Adam:
    """Adam (Kingma and Ba, arXiv:1412.6980) on clipped latent parameters, in the units of their levels."""

    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(self, latents: list[Latent]) -> None:
        self.latents = latents
        self.means = [np.zeros(latent.tensor.shape) for latent in latents]
        self.squares = [np.zeros(latent.tensor.shape) for latent in latents]
        self.power1 = self.power2 = 1.0

    def step(self, rate: float) -> None:
        """Move every parameter against its gradient and clip it to its range."""
        self.power1 *= self.beta1
        self.power2 *= self.beta2
        for p, mean, square in zip(self.latents, self.means, self.squares, strict=True):
            gradient = p.take_gradient()
            mean[...] = self.beta1 * mean + (1 - self.beta1) * gradient
            square[...] = self.beta2 * square + (1 - self.beta2) * gradient * gradient
            size = np.sqrt(square / (1 - self.power2)) + self.epsilon
            p.move(rate * p.gain * (mean / (1 - self.power1)) / size)


@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]  # for such small matrices, waiting threads cost
def train(network: Network, digits: Digits, schedule: Schedule) -> None:
    """Train a network in place; the held-out images are not looked at."""
    random = np.random.RandomState(schedule.seed)
    optimiser = Adam(network.latents())
    loss = ClassLoss()
    steps = schedule.epochs * -(-len(digits.train_x) // schedule.batch)
    reach = range(-schedule.move, schedule.move + 1)
    moved = np.stack([shift(digits.train_x, rows, columns) for rows in reach for columns in reach])
    done = 0
    for _ in range(schedule.epochs):
        order = random.permutation(len(digits.train_x))
        for start in range(0, len(order), schedule.batch):
            chosen = order[start : start + schedule.batch]
            images = moved[random.randint(len(moved), size=len(chosen)), chosen]
            logits = network.logits(images)
            Tensor.apply(
                loss, [logits, digits.train_y[chosen]], {"temperature": schedule.temperature}
            ).backward()
            optimiser.step(schedule.rate * (1.0 - done / steps))
            done += 1
