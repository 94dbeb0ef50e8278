"""What quantiser ops share: the dtype of their outputs, and scales of one element or many."""

from __future__ import annotations

from typing import Any

import numpy as np

from brainsmith.autodiff.op import Array, Dtypes, Op
from brainsmith.errors import OpError

ALL = (True,) * 4
"""That the gradients of all inputs are needed."""


class QuantiserOp(Op):
    """The base of quantisers: their first input is what they quantise."""

    def output_dtype(self, dtypes: Dtypes, **attributes: Any) -> np.dtype[Any]:
        """Return x's dtype; of integers the float that holds them."""
        return float_of_first(dtypes)

    def expect_scale(self, scale: Array, x: Array) -> None:
        """Refuse a scale that is not finite, is 0, or does not fit x.

        Raises:
            OpError: The message names the op.
        """
        self.expect_broadcast("scale", scale, x)
        if not scale.all() or not np.isfinite(scale).all():
            raise OpError(f"scale of {self.name} must be finite and not 0")

    def expect_broadcast(self, what: str, given: Array, x: Array) -> None:
        """Refuse a parameter that is neither one element nor broadcast to x.

        Raises:
            OpError: The message names the op and the parameter.
        """
        try:
            fits = given.size == 1 or np.broadcast_shapes(x.shape, given.shape) == x.shape
        except ValueError:
            fits = False
        if not fits:
            raise OpError(
                f"{what} of {self.name} must be one element or broadcast to x, of shape {x.shape}, not {given.shape}"
            )


def float_of_first(dtypes: Dtypes) -> np.dtype[Any]:
    """Return the first input's dtype; for integers the float that holds them: half a unit matters here."""
    return dtypes[0] if dtypes[0].kind == "f" else np.result_type(dtypes[0], np.float32)


def is_traced(value: Any) -> bool:
    """Tell whether a value stands for an array while a loop is compiled: its shape and elements are not known."""
    return not isinstance(value, np.ndarray | np.generic)


def sign_of(x: Any) -> Any:
    """Return 1 where a value is 0 or more, -1 elsewhere, NaN included; of an array or what stands for one."""
    return np.where(x >= 0, np.ones_like(x), -np.ones_like(x))


def as_number(array: Array) -> Array:
    """Take one element as a number, so that no axis of it is added to x."""
    return array.reshape(()) if array.size == 1 else array
