"""The ops that only the encoder's training needs, beside those of the digits: what its circuit rounds, and its loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from digits_data import Array

from brainsmith.autodiff.primitives.normalisations import LayerNorm
from brainsmith.ops import Op
from brainsmith.ops.int_quant import IntQuant


class StraightQuant(IntQuant):
    """int_quant as the identity to its gradient: for values that hardly leave the range, such as probabilities."""

    name = "straight_quant"
    not_differentiable = (1, 2, 3)  # type: ignore[assignment]  # mypy reads (3,) there as of one

    def backward(self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any) -> Any:
        """Hand the gradient through."""
        return grad_output, None, None, None

    def surrogate(self, x: Array, scale: Array, zero_point: Array, bits: Array, **attributes: Any) -> Array:
        """Return the identity."""
        return x


class StoredLayerNorm(LayerNorm):
    """layer_norm with scale and bias as a graph stores them, in float32; their gradients pass that rounding."""

    name = "stored_layer_norm"

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Compute it in the dtype of x."""
        x, scale, bias = inputs
        return super().forward(x, *(part.astype(np.float32) for part in (scale, bias)), **attributes)


class Fork(Op):
    """One value for three readers, whose gradients are added in their order.

    The tape would add them in the order in which it comes back, and floating-point sums depend on it.
    """

    name, num_inputs, num_outputs = "fork", 1, 3

    def forward(self, x: Array, **attributes: Any) -> tuple[Array, Array, Array]:
        """Hand out x."""
        return x, x, x

    def backward(
        self, grad_output: Sequence[Array], inputs: Sequence[Array], output: Any, **attributes: Any
    ) -> tuple[Array]:
        """Add up."""
        first, second, third = grad_output
        return (first + second + third,)


class ClassLoss(Op):
    """The mean cross entropy of logits (N, classes) and labels (N,), in units of `temperature`.

    A logit less by `temperature` makes a class less probable by a factor of e.
    """

    name, num_inputs = "class_loss", 2
    attributes: ClassVar[Mapping[str, Any]] = {"temperature": 1.0}
    not_differentiable = (1,)

    def forward(self, logits: Array, labels: Array, **attributes: Any) -> Array:
        """Return the mean of -log(probability of the right class), times the temperature."""
        temperature = attributes["temperature"]
        distance = (logits - logits.max(axis=1, keepdims=True)) / temperature
        right = distance[np.arange(len(labels)), labels] - np.log(np.exp(distance).sum(axis=1))
        return np.asarray(-temperature * right.mean())

    def backward(self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any) -> Any:
        """Return (probabilities - targets) / N."""
        logits, labels = inputs
        powers = np.exp((logits - logits.max(axis=1, keepdims=True)) / attributes["temperature"])
        gradient = powers / powers.sum(axis=1, keepdims=True)
        gradient[np.arange(len(labels)), labels] -= 1.0
        return gradient / len(labels) * grad_output, None

    def output_shape(self, shapes: Sequence[tuple[int, ...]], **attributes: Any) -> tuple[int, ...]:
        """Give one number."""
        return ()
