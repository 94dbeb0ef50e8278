"""The functions that can be compiled: their numpy forms, and how near the compiled ones are to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import brainsmith.autodiff.functional  # noqa: F401  defines what ELEMENTWISE and REDUCTIONS have
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE
from brainsmith.autodiff.primitives.reductions import REDUCTIONS


@dataclass(frozen=True)
class Function:
    """One function.

    Attributes:
        name: As in an expression's text, and of the function in `vector_math.hpp`.
        arity: How many operands it takes.
        numpy_form: What computes it on arrays.
        reducer: What `reductions.hpp` adds up the elements of a row with; empty for a function that reduces no axes.
        ufunc: The ufunc whose `reduce` it is, if there is one.
        ulps: How many units in the last place its compiled form may be away from numpy's, of float32 and of float64, for
            the same argument; measured over all of float32 (tests/autodiff/compiling/test_vector_math.py).
    """

    name: str
    arity: int
    numpy_form: Callable[..., Any]
    reducer: str = ""
    ufunc: np.ufunc | None = None
    ulps: tuple[int, int] = (0, 0)

    @property
    def reduces(self) -> bool:
        """Whether it reduces axes."""
        return bool(self.reducer)

    @property
    def is_ufunc(self) -> bool:
        """Whether its numpy form is a ufunc."""
        return isinstance(self.numpy_form, np.ufunc)


_EXACT = (
    "positive square reciprocal ceil trunc isnan isinf isfinite invert signbit floor_divide remainder fmax fmin not_equal "
    "logical_xor bitwise_and bitwise_or bitwise_xor copysign"
)
_NEAR = {
    "exp2": (4, 3), "log2": (4, 3), "log10": (5, 4), "sinh": (4, 4), "cosh": (4, 3), "arctan": (4, 3),
    "logaddexp": (6, 4),
}  # fmt: skip


def _elementwise() -> list[Function]:
    forms = [(getattr(np, name), (0, 0)) for name in _EXACT.split()]
    forms += [(getattr(np, name), ulps) for name, ulps in _NEAR.items()]
    forms += [(form, op.ulps) for op in ELEMENTWISE.values() for form in op.forms]
    return [Function(form.__name__, getattr(form, "nin", 1), form, ulps=ulps) for form, ulps in forms]


FUNCTIONS = {
    one.name: one
    for one in (
        *_elementwise(),
        Function("where", 3, np.where),
        Function("clip", 3, np.clip),
        Function("round", 1, np.round),
        Function("full_like", 2, np.full_like),
        Function("cast", 1, lambda x, dtype: np.asarray(x).astype(dtype)),
        *(Function(one.name, 1, one.function, one.reducer, one.ufunc) for one in REDUCTIONS.values()),
        Function("prod", 1, np.prod, "Product", np.multiply),
        Function("any", 1, np.any, "Greatest"),
        Function("all", 1, np.all, "Least"),
    )
}
"""By name."""

UFUNC_REDUCTIONS = {one.ufunc: one.name for one in FUNCTIONS.values() if one.ufunc}
"""The names of those that are a ufunc's `reduce`."""
