"""Optimisers: they change parameters against their gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.tape.tensor import Tensor
from brainsmith.errors import GradientError, OpError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.autodiff.op import Array


class Optimiser(ABC):
    """Changes parameters in place: `zero_grad()`, then `loss.backward()`, then `step()`.

    Args:
        parameters: Tensors that require a gradient, such as `layer.parameters()`.
        rate: The learning rate, which may be changed between steps.

    Raises:
        OpError: There is no parameter, one is no Tensor that requires a gradient, or a number is out of range.
    """

    def __init__(self, parameters: Iterable[Tensor], rate: float) -> None:
        self.parameters = list(parameters)
        if not self.parameters:
            raise OpError(f"{type(self).__name__} needs at least one parameter")
        for parameter in self.parameters:
            is_leaf = isinstance(parameter, Tensor) and parameter.record is None
            if not is_leaf or not parameter.requires_grad:
                raise OpError(
                    f"a parameter of {type(self).__name__} must be a Tensor made with requires_grad=True, not {parameter!r}"
                )
        self.rate = self._in_range("rate", rate, 0, float("inf"))

    def _in_range(self, name: str, value: Any, low: float, high: float) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value < high:
            limit = f" and below {high:g}" if np.isfinite(high) else ""
            raise OpError(
                f"{name} of {type(self).__name__} must be a number of at least {low:g}{limit}, not {value!r}"
            )
        return float(value)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.zero_grad()

    def step(self) -> None:
        """Change every parameter that has a gradient.

        Raises:
            GradientError: None has one.
        """
        if all(parameter.grad is None for parameter in self.parameters):
            raise GradientError(
                f"{type(self).__name__}.step() found no gradient at any parameter: call backward() on the loss first"
            )
        for at, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                parameter.data -= (self.rate * self.direction(at, parameter.grad)).astype(parameter.dtype)

    @abstractmethod
    def direction(self, at: int, gradient: Array) -> Array:
        """Return the step of a parameter for a learning rate of 1."""


class Sgd(Optimiser):
    """Stochastic gradient descent; with momentum m the step is v = m * v + gradient (Polyak 1964)."""

    def __init__(self, parameters: Iterable[Tensor], rate: float = 0.01, momentum: float = 0.0) -> None:
        super().__init__(parameters, rate)
        self.momentum = self._in_range("momentum", momentum, 0, 1)
        self._velocity: dict[int, Array] = {}

    def direction(self, at: int, gradient: Array) -> Array:
        """Return the gradient, with what is left of the steps before."""
        if not self.momentum:
            return gradient
        velocity = self._velocity.get(at)
        self._velocity[at] = gradient.copy() if velocity is None else self.momentum * velocity + gradient
        return self._velocity[at]


class Adam(Optimiser):
    """Adam (Kingma and Ba 2015, algorithm 1): steps by the means of gradients and of their squares."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        rate: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(parameters, rate)
        self.betas = tuple(self._in_range("betas", beta, 0, 1) for beta in betas)
        self.epsilon = self._in_range("epsilon", epsilon, 0, float("inf"))
        self._means: dict[int, tuple[int, Array, Array]] = {}

    def direction(self, at: int, gradient: Array) -> Array:
        """Return mean / (sqrt(mean of squares) + epsilon), both corrected for their start at 0."""
        first, second = self.betas
        zero = np.zeros_like(gradient)
        steps, mean, squares = self._means.get(at, (0, zero, zero))
        steps += 1
        mean = first * mean + (1 - first) * gradient
        squares = second * squares + (1 - second) * gradient * gradient
        self._means[at] = (steps, mean, squares)
        corrected = np.sqrt(squares / (1 - second**steps)) + self.epsilon
        return np.asarray(mean / (1 - first**steps) / corrected)
