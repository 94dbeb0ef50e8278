"""Compiled ops over their numpy forms, on a million float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ops_timing import Figure, faster

from brainsmith import ops
from brainsmith.ops.examples import gelu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = np.ndarray[Any, Any]
COUNT = 1_000_000
SLOPE = float(np.sqrt(2 / np.pi))


def gelu_tanh(x: Array) -> Any:
    """Return gelu in the tanh form; x * x * x, because numpy's x ** 3 is 20 times slower."""
    return 0.5 * x * (1.0 + np.tanh(SLOPE * (x + 0.044715 * (x * x * x))))


def scale(x: Array) -> Any:
    """Divide by a quantiser's scale."""
    return x * 16.0


def shift(x: Array) -> Any:
    """Add its zero point."""
    return x + 3.0


def round_up(x: Array) -> Any:
    """Round to integers."""
    return np.rint(x)


def bound_below(x: Array) -> Any:
    """Keep above the least integer."""
    return np.maximum(x, -128.0)


def bound_above(x: Array) -> Any:
    """Keep below the greatest."""
    return np.minimum(x, 127.0)


def unscale(x: Array) -> Any:
    """Multiply by the scale."""
    return x * 0.0625


def root(x: Array) -> Any:
    """Take the square root of the size."""
    return np.sqrt(np.abs(x))


def bend(x: Array) -> Any:
    """Take the hyperbolic tangent."""
    return np.tanh(x)


QUANTISER = (scale, shift, round_up, bound_below, bound_above, unscale)
ACTIVATION = (scale, shift, root, bound_above, bend)


def chained(functions: Sequence[Callable[[Array], Any]], x: Array) -> Any:
    """Apply functions one after the other, as numpy does."""
    for function in functions:
        x = function(x)
    return x


def measure() -> list[Figure]:
    """Measure gelu in both forms, and a chain of six ops."""
    x = np.random.default_rng(0).standard_normal(COUNT).astype(np.float32)
    erf_form = gelu()
    by_erf, by_tanh = ops.compile_op(erf_form), ops.compile_op(gelu_tanh)
    figures = [
        faster(
            "compiled gelu (tanh) on 1 M float32, against numpy",
            lambda: by_tanh.forward(x),
            lambda: gelu_tanh(x),
            3,
        ),
        faster(
            "compiled gelu (erf) on 1 M float32, against numpy",
            lambda: by_erf.forward(x),
            lambda: erf_form.forward(x),
            3,
        ),
    ]
    for kind, chain in (("a quantiser", QUANTISER), ("with sqrt and tanh", ACTIVATION)):
        figures.append(_fused(f"chain of 6 on 1 M float32 ({kind}), fused, against numpy", chain, x))
    return figures


def _fused(what: str, chain: Sequence[Callable[[Array], Any]], x: Array) -> Figure:
    fused = ops.fuse(chain)
    return faster(what, lambda: fused.forward(x), lambda: chained(chain, x), 5)
