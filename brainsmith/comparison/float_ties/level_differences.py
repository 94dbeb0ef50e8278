"""Where a quantiser's levels are others than the network's, and whether rounding explains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from brainsmith.comparison.float_ties.bounded_operators import BoundedQuantiser
    from brainsmith.comparison.float_ties.bounded_tensor import BoundedTensor


_SAME = 2.0**-5
"""Part of a step by which floats of one level differ at most."""

_HALVINGS = 48
"""A search halves a distance so often, which leaves nothing of it in float32."""

_FAR = 4.0
"""Steps beyond the levels between which a threshold is searched."""


@dataclass(frozen=True)
class FloatTie:
    """One value that rounding may bring to either of two levels.

    Attributes:
        tensor: The quantiser's output.
        place: Where it is in the tensor.
        distance: From what the network has before the quantiser to the threshold, in steps of the quantiser.
        bound: What rounding can move it by, in steps.
    """

    tensor: str
    place: tuple[int, ...]
    distance: float
    bound: float


@dataclass(frozen=True)
class LevelDifferences:
    """What one quantiser's levels come to.

    Attributes:
        levels: Those that were found, as the network's own floats.
        ties: Differences that rounding explains.
        wrong: A sentence about the first difference that it does not explain; empty if there is none.
    """

    levels: Array
    ties: tuple[FloatTie, ...] = ()
    wrong: str = ""


def compare_levels(
    quantiser: BoundedQuantiser, given: BoundedTensor, own: BoundedTensor, found: Array, once: bool = True
) -> LevelDifferences:
    """Compare levels that were found with those that a quantiser gives.

    Args:
        quantiser: It.
        given: What it gets.
        own: What it gives for that, and for its ends.
        found: What another evaluation gave, in the network's scale; float64, NaN where that is not known.

        once: Sums were rounded once, as those of integers are.

    A level is a float tie if rounding can bring the network to it. With `once` it must be what the network's own operators
    make of the exact sum, rounded once: so thresholds of another rounding mode are wrong on ties, too. Without, it must be
    the one beside the network's.
    """
    unit = np.broadcast_to(quantiser.unit, own.value.shape)
    if found.shape != own.value.shape:
        return LevelDifferences(
            own.value, (), f"'{_name(quantiser)}' has the shape {list(found.shape)} there"
        )
    found = np.where(np.isnan(found), own.value, found)
    steps = (found - own.value) / unit
    whole = np.rint(steps)
    slack = _SAME + np.abs(found / unit) * 2.0**-22
    if (at := _first(np.abs(steps - whole) > slack)) is not None:
        return LevelDifferences(
            own.value, (), f"{_place(quantiser, at)} is {found[at]:g}, which is not one of its levels"
        )
    if not whole.any():
        return LevelDifferences(own.value)
    ends = (own.low, own.high, *own.rounded_once)
    low, high, *nearest = (np.rint((end.astype(np.float64) - own.value) / unit) for end in ends)
    allowed = (low <= whole) & (whole <= high)
    allowed &= (nearest[0] <= whole) & (whole <= nearest[1]) if once else np.abs(whole) <= 1
    distances, bounds = _distances(quantiser, given, own, whole, unit)
    if (at := _first(~allowed & (whole != 0))) is not None:
        far, bound = distances[at], bounds[at]
        away = f"{far:.3g} of a step" if np.isfinite(far) else "more than a few steps"
        levels = f"{found[at] + 0.0:g}, and {own.value[at] + 0.0:g} in the network"
        text = (
            f"{_place(quantiser, at)} is {levels}; what it is made of lies "
            f"{away} from the threshold between them, and rounding moves it by {bound:.2g} of a step at most"
        )
        if once and low[at] <= whole[at] <= high[at]:
            text += f", but the exact sum gives {own.rounded_once[0][at]:g}"
        return LevelDifferences(own.value, (), text)
    ties = tuple(
        FloatTie(_name(quantiser), tuple(map(int, at)), float(distances[tuple(at)]), float(bounds[tuple(at)]))
        for at in np.argwhere(whole != 0)
    )
    return LevelDifferences(_moved(quantiser, own.value, whole), ties)


def _moved(quantiser: BoundedQuantiser, levels: Array, steps: Array) -> Array:
    """Return levels some steps away, as the network computes them: a whole number times the scale."""
    if quantiser.scaled is None:
        return np.asarray(levels + steps * quantiser.unit, np.float32)
    scale, step = quantiser.scaled
    numbers = np.rint(levels / scale.astype(np.float64)) + steps * step
    return np.asarray(numbers.astype(np.float32) * scale, np.float32)


def _distances(
    quantiser: BoundedQuantiser, given: BoundedTensor, own: BoundedTensor, steps: Array, unit: Array
) -> tuple[Array, Array]:
    """Return how far inputs are from where they would get the levels found, and what rounding moves them by, in steps."""
    start = np.asarray(given.value, np.float64)
    upwards = np.sign(steps)
    wanted = own.value + (steps - upwards * 0.5) * unit
    near, far = np.zeros(start.shape), np.where(steps != 0, (np.abs(steps) + _FAR) * unit, 0.0)

    def beyond(distance: Array) -> Array:
        (levels,) = quantiser.run({quantiser.inputs[0]: np.asarray(start + upwards * distance, np.float32)})
        return np.asarray(np.where(upwards > 0, levels >= wanted, levels <= wanted))

    none = ~beyond(far)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        there = beyond(middle)
        near, far = np.where(there, near, middle), np.where(there, middle, far)
    rounding = np.maximum(given.high - start, start - given.low)
    return np.where(none & (steps != 0), np.inf, far / unit), rounding / unit


def _first(wrong: Array) -> tuple[int, ...] | None:
    places = np.argwhere(wrong)
    return tuple(map(int, places[0])) if len(places) else None


def _name(quantiser: BoundedQuantiser) -> str:
    return str(quantiser.node.output[0])


def _place(quantiser: BoundedQuantiser, at: tuple[int, ...]) -> str:
    return f"element {list(at)} of '{_name(quantiser)}'"
