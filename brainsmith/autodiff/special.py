"""Functions that numpy lacks, written once for arrays, for Tensors and for what the compiler traces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.op import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Array

ERF_REACH = 3.95
"""Beyond it erf is 1 in float32: 1 - erf(3.95) is 2.3e-8, less than half a step below 1."""

ERF_POLYNOMIAL = (
    0.35353099564340495, -0.1765762332142376, 0.13167511686631903, -0.1077104489095233, 0.0902089961907006,
    -0.07472772837517466, 0.059886860225133925, -0.045766463466210563, 0.03306107366347555, -0.022466263707243098,
    0.014347216896437105, -0.008629832983801853, 0.004861257452313889, -0.0025306721064139617, 0.001277072805758373,
    -0.0006727975797938545, 0.0002951384370466126, -7.246152144638048e-05, 3.2979383818983124e-05,
    -3.668360645354812e-05, 1.2874054698224224e-05,
)  # fmt: skip
"""erf(x) / x on [-4, 4] in t = x * x / 8 - 1, lowest power first: it interpolates in the 21 Chebyshev nodes.

The relative error is 2e-11, so that its value, computed in float64, rounds to the float32 that is next to erf(x) but for
one case in thousands. The compiler generates this very polynomial: both forms agree in every bit.
"""


def erf(x: Any) -> Any:
    """Return the error function 2 / sqrt(pi) * integral of exp(-t * t) from 0 to x, element by element.

    Args:
        x: An array, a number, or a Tensor (the result is one, and the tape goes on).

    Returns:
        Of float32 for float32, of float64 for float64 and for integers.
    """
    if getattr(x, "is_tape_tensor", False):
        from brainsmith.autodiff.tensor import apply_op

        return apply_op(ERF, [x], {})
    if hasattr(x, "trace_function"):
        return x.trace_function("erf", (x,))
    array = np.asarray(x)
    if array.dtype in (np.float32, np.float16):
        return _erf_of_float32(array).astype(array.dtype)[()]
    values = array.astype(np.float64)
    return np.fromiter(map(math.erf, values.ravel().tolist()), np.float64, values.size).reshape(array.shape)[
        ()
    ]


def _erf_of_float32(array: Array) -> Array:
    x = np.clip(array.astype(np.float64), -ERF_REACH, ERF_REACH)
    t = x * x * 0.125 - 1.0
    total = np.full_like(t, ERF_POLYNOMIAL[-1])
    for coefficient in reversed(ERF_POLYNOMIAL[:-1]):
        total *= t
        total += coefficient
    return np.asarray(total * x, dtype=np.float64)


class Erf(Op):
    """The error function as an op of the tape."""

    name = "erf"

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Compute it."""
        return erf(inputs[0])

    def backward(self, grad_output: Any, inputs: Sequence[Array], output: Any, **attributes: Any) -> Any:
        """Return the gradient: the derivative is 2 / sqrt(pi) * exp(-x * x)."""
        (x,) = inputs
        return (grad_output * (np.exp(-x * x) * (2.0 / math.sqrt(math.pi))),)


ERF = Erf()
