"""The functions that can be compiled: their numpy forms, and how near the compiled ones are to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.special import erf

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Function:
    """One function.

    Attributes:
        name: As in an expression's text, and of the function in `vector_math.hpp`.
        arity: How many operands it takes.
        numpy_form: What computes it on arrays.
        reduces: Whether it reduces axes.
        ulps: How many units in the last place its compiled form may be away from numpy's, of float32 and of float64, for
            the same argument; measured over all of float32 (tests/autodiff/compiling/test_vector_math.py).
    """

    name: str
    arity: int
    numpy_form: Callable[..., Any]
    reduces: bool = False
    ulps: tuple[int, int] = (0, 0)

    @property
    def is_ufunc(self) -> bool:
        """Whether its numpy form is a ufunc."""
        return isinstance(self.numpy_form, np.ufunc)


_EXACT = (
    "negative positive absolute fabs sqrt square reciprocal floor ceil trunc rint sign isnan isinf isfinite logical_not "
    "invert signbit add subtract multiply divide floor_divide remainder maximum minimum fmax fmin equal not_equal less "
    "less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor copysign"
)
_NEAR = {
    "exp": (4, 3), "exp2": (4, 3), "expm1": (5, 3), "log": (5, 3), "log2": (4, 3), "log10": (5, 4), "log1p": (5, 3),
    "tanh": (6, 4), "sinh": (4, 4), "cosh": (4, 3), "sin": (4, 3), "cos": (4, 3), "arctan": (4, 3), "power": (5, 4),
    "logaddexp": (6, 4),
}  # fmt: skip


def _full_like(x: Any, value: Any) -> Any:
    return np.full_like(x, value)


def _cast(x: Any, dtype: str) -> Any:
    return np.asarray(x).astype(dtype)


def _round(x: Any) -> Any:
    return np.round(x)


def _ufuncs() -> list[Function]:
    exact = [(name, (0, 0)) for name in _EXACT.split()]
    return [
        Function(name, getattr(np, name).nin, getattr(np, name), ulps=ulps)
        for name, ulps in (*exact, *_NEAR.items())
    ]


FUNCTIONS = {
    one.name: one
    for one in (
        *_ufuncs(),
        Function("erf", 1, erf),
        Function("where", 3, np.where),
        Function("clip", 3, np.clip),
        Function("round", 1, _round),
        Function("full_like", 2, _full_like),
        Function("cast", 1, _cast),
        Function("sum", 1, np.sum, reduces=True),
        Function("mean", 1, np.mean, reduces=True),
        Function("prod", 1, np.prod, reduces=True),
        Function("max", 1, np.max, reduces=True),
        Function("min", 1, np.min, reduces=True),
        Function("any", 1, np.any, reduces=True),
        Function("all", 1, np.all, reduces=True),
    )
}
"""By name."""
