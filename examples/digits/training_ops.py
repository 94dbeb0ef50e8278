"""The ops that only training needs: a loss, two that round where a circuit has integers, and quantisers of more reach.

Every operation is exact or correctly rounded by IEEE 754 where it decides what is learnt (no exp, no pow, no cos), so
that two machines train the same network bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from digits_data import Array

from brainsmith.execution.program.functions.rounding_modes import integer_limits
from brainsmith.ops import Op
from brainsmith.ops.bipolar_quant import BipolarQuant
from brainsmith.ops.int_quant import IntQuant

GRID = 2.0**16
"""Gradients are multiples of 1 / GRID, in the units of the integers that a circuit has."""

GREATEST = 2.0**32
"""No gradient has as many units. A sum of 2^12 of them (64 samples of 64 pixels), times activations of up to 2^3, stays
below 2^47; so all sums are exact in float64, and their order does not matter."""


class HalfOdd(Op):
    """The nearest odd number of half units at or above: n + 1/2 for a bias from n up to n + 1.

    A value plus such a bias is never halfway between two levels, so rounding to even (Quant) and comparing with
    thresholds (hardware) agree.
    """

    name, num_inputs = "half_odd", 1
    attributes: ClassVar[Mapping[str, Any]] = {"unit": 1.0}

    def forward(self, bias: Array, **attributes: Any) -> Array:
        """Round down to units, and add half of one."""
        unit = attributes["unit"]
        return np.asarray((np.floor(bias / unit) + 0.5) * unit)

    def backward(
        self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> tuple[Array]:
        """Hand the gradient through: straight-through estimation, as if nothing were rounded."""
        return (grad_output,)

    def surrogate(self, bias: Array, **attributes: Any) -> Array:
        """Return the function whose gradient this is: the identity."""
        return bias


class OnGrid(Op):
    """The identity; its gradient is rounded to the grid, in `unit`, the real value of an accumulator's integer 1."""

    name, num_inputs = "on_grid", 1
    attributes: ClassVar[Mapping[str, Any]] = {"unit": 1.0}

    def forward(self, x: Array, **attributes: Any) -> Array:
        """Return what comes in."""
        return x

    def backward(
        self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any
    ) -> tuple[Array]:
        """Round the gradient to the grid.

        Raises:
            ArithmeticError: It is so great that sums of it might be rounded.
        """
        scale = attributes["unit"] * GRID
        units = np.rint(grad_output * scale)
        greatest = float(np.abs(units).max(initial=0.0))
        if not greatest < GREATEST:
            raise ArithmeticError(
                f"a gradient of {greatest:g} units: from 2^32 on, sums of them may be rounded"
            )
        return (units / scale,)


class ActivationQuant(IntQuant):
    """int_quant whose gradient passes wherever rounding and not clipping chooses the level: half a level further.

    It has no zero point.
    """

    name = "activation_quant"
    not_differentiable = (1, 2, 3)  # type: ignore[assignment]  # mypy reads (3,) there as of one

    def backward(self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any) -> Any:
        """Pass the gradient inside."""
        x, scale, _, bits = inputs
        low, high = self._ends(bits, attributes)
        levels = x / scale
        return grad_output * ((levels >= low) & (levels <= high)), None, None, None

    def surrogate(self, x: Array, scale: Array, zero_point: Array, bits: Array, **attributes: Any) -> Array:
        """Return the function whose gradient this is."""
        low, high = self._ends(bits, attributes)
        return np.clip(x, low * scale, high * scale)

    @staticmethod
    def _ends(bits: Array, attributes: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return where clipping begins, in levels."""
        low, high = integer_limits(
            np.asarray(bits, np.float64), attributes.get("signed", True), attributes.get("narrow", False)
        )
        return low - 0.5, high + 0.5


class SignQuant(BipolarQuant):
    """bipolar_quant, as the clipped straight line from -`reach` to `reach` to its gradient."""

    name = "sign_quant"
    attributes: ClassVar[Mapping[str, Any]] = {"reach": 1.0}
    not_differentiable = (1,)

    def backward(self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any) -> Any:
        """Multiply by the slope of that line."""
        reach = attributes["reach"]
        return grad_output * (np.abs(inputs[0]) <= reach) / reach, None

    def surrogate(self, x: Array, scale: Array, **attributes: Any) -> Array:
        """Return that line."""
        return np.asarray(np.clip(x / attributes["reach"], -1.0, 1.0))


class ClassLoss(Op):
    """The cross entropy of integer logits (N, classes) and labels (N,), in units of `temperature`, summed.

    A logit less by d makes a class less probable by (1 - 1 / temperature)^d.
    """

    name, num_inputs = "class_loss", 2
    attributes: ClassVar[Mapping[str, Any]] = {"temperature": 16.0}
    not_differentiable = (1,)

    def forward(self, logits: Array, labels: Array, **attributes: Any) -> Array:
        """Add up -log(probability of the right class), which counts as 2^-32 if it is less."""
        temperature = attributes["temperature"]
        right = np.maximum(probabilities(logits, temperature)[np.arange(len(labels)), labels], GRID**-2)
        return np.asarray(np.log(right).sum() / np.log(1.0 - 1.0 / temperature))

    def backward(self, grad_output: Array, inputs: Sequence[Array], output: Array, **attributes: Any) -> Any:
        """Return probabilities minus targets, rounded to the grid."""
        logits, labels = inputs
        error = probabilities(logits, attributes["temperature"])
        error[np.arange(len(labels)), labels] -= 1.0
        return np.rint(error * GRID) / GRID * grad_output, None

    def output_shape(self, shapes: Sequence[tuple[int, ...]], **attributes: Any) -> tuple[int, ...]:
        """Give one number."""
        return ()


def probabilities(logits: Array, temperature: float) -> Array:
    """Return the softmax of integer logits, (N, classes).

    exp(-d / temperature) is a table: powers of one ratio, made by multiplication.
    """
    distance = (logits.max(axis=1, keepdims=True) - logits).astype(np.int64)
    ratio = 1.0 - 1.0 / temperature
    powers = np.multiply.accumulate(np.full(int(distance.max()) + 1, ratio)) / ratio
    weights = np.rint(powers * GRID**2)[distance]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
