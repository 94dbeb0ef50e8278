"""SignedSteps: any function of integers to levels, as what it rises by and what it falls by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.threshold_rows import MOST_LEVELS, ThresholdRows
from brainsmith.transforms.lattice.value_lattice import common_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Doubles, Singles, Whole
    from brainsmith.transforms.lattice.staircases import Staircase

MOST_TABLED = 1 << 20
"""Integers of a function that are tried one by one."""

_MOST_VALUES = 1 << 24
"""Values of all channels that are tried."""

_MOST_PARTS = 64
"""Into how many parts the least value of a function is divided to find a unit."""

_ROUNDING = 2.0**-22
"""Of a value: by how much it may be off a multiple of a unit, where it was rounded to float32 a few times."""


@dataclass(frozen=True)
class SignedSteps:
    """A function of integers as the sum of one that rises and one that falls.

    Attributes:
        rising: Thresholds of the integers; None where it never rises. All of them where no channel both rises and falls.
        falling: Thresholds of the negated integers; None where it never falls, or there are others for it.
        range: Of the levels of each channel, or of all.
    """

    rising: ThresholdRows | None
    falling: ThresholdRows | None
    range: IntegerRange


def all_integers(tensor: IntegerTensor) -> Whole:
    """Return the integers of each channel from the least of all to the greatest, kept in the channel's range.

    Returns:
        (channels or 1, integers).

    Raises:
        NoLayerError: They are too many to be tried.
    """
    low, high = tensor.range.ends
    if high - low >= MOST_TABLED or (high - low) * tensor.told_apart > _MOST_VALUES:
        raise NoLayerError(
            f"a function of {high - low + 1} different integers, and no more than {MOST_TABLED} are tried",
            "put a quantiser before it",
        )
    return np.clip(np.arange(low, high + 1)[None], *(end[:, None] for end in tensor.range))


def evaluated(function: Callable[..., Any], tensor: IntegerTensor, *others: Any) -> Any:
    """Return what a function makes of a tensor's integers; if it cannot, name the operator that is pending last."""
    try:
        return function(tensor, *others)
    except NoLayerError as error:
        node = tensor.links[-1].node
        found = error.reason.behind(f"{node.op_type} '{node.name or node.output[0]}' before it")
        raise NoLayerError(found.text, found.helps) from None


def tabled_levels(tensor: IntegerTensor, staircase: Staircase) -> SignedSteps:
    """Return a quantiser's levels of any function of integers.

    Raises:
        NoLayerError: Its integers, or its levels, are too many; or it is not defined for some.
    """
    numbers = all_integers(tensor)
    with np.errstate(all="ignore"):
        values = tensor.values(numbers)
        if np.isnan(values).any():
            raise NoLayerError(
                "a function that is not defined for some of its integers",
                "clip what goes into it to where it is",
            )
        levels = staircase.levels(values)
    return signed_steps(levels, tensor.range.ends[0])


def tabled_values(tensor: IntegerTensor) -> tuple[SignedSteps, Doubles]:
    """Return any function of integers as levels times a unit, one or one for each channel.

    Raises:
        NoLayerError: Its results have no unit, or are not finite; or they, or its integers, are too many.
    """
    numbers = all_integers(tensor)
    with np.errstate(all="ignore"):
        values = tensor.values(numbers)
    if not np.isfinite(values).all():
        raise NoLayerError("its results are not finite", "clip what goes into it to where they are")
    if np.array_equal(np.rint(values), values):
        units = [1.0]
    else:
        exact = common_unit(np.unique(values.astype(np.float64)))
        found = [exact] if exact is not None else [_unit(row) for row in values]
        units = [unit for unit in found if unit is not None]
        if len(units) < len(found):
            raise NoLayerError("its results have no common unit", "put a quantiser after it")
    levels = np.rint(values / np.asarray(units)[:, None]).astype(np.int64)
    return signed_steps(levels, tensor.range.ends[0]), np.asarray(units)


def _unit(values: Singles) -> float | None:
    """Return what all values are multiples of, but for their rounding to float32."""
    sizes = np.unique(np.abs(values[values != 0]).astype(np.float64))
    if not sizes.size:
        return 1.0
    for parts in range(1, _MOST_PARTS + 1):
        times = np.rint(sizes * (parts / sizes[0]))
        unit = sizes[-1] / times[-1]
        if (np.abs(times * unit - sizes) <= _ROUNDING * sizes).all():
            return float(unit)
    return None


def signed_steps(levels: Whole, low: int) -> SignedSteps:
    """Return levels of consecutive integers, (channels or 1, integers), from `low` on, as thresholds.

    Thresholds that every integer reaches make up for channels that begin, or end, at other levels.

    Raises:
        NoLayerError: They are too many.
    """
    change = np.diff(levels, axis=1)
    up, down = np.maximum(change, 0), np.maximum(-change, 0)
    most = int(max(up.sum(axis=1).max(), down.sum(axis=1).max()))
    if most > MOST_LEVELS:
        raise NoLayerError(
            f"its results have {most + 1} levels, more than the {MOST_LEVELS + 1} that thresholds give",
            "put a quantiser after it",
        )
    reached = IntegerRange(levels.min(axis=1), levels.max(axis=1))
    rises, falls = np.asarray(up.any(axis=1)), np.asarray(down.any(axis=1))
    first, last = levels[:, 0], levels[:, -1]
    if not (rises & falls).any():
        signs = np.where(falls, -1, 1)
        steps, begin = np.where(falls[:, None], down, up), np.where(falls, last, first)
        found = _rows(steps, low, begin, signs if (signs != signs[0]).any() else signs[:1])
        only_falls = bool(falls.all())
        return SignedSteps(None if only_falls else found, found if only_falls else None, reached)
    one = np.ones(1, np.int64)
    return SignedSteps(_rows(up, low, first, one), _rows(down, low, -down.sum(axis=1), -one), reached)


def _rows(steps: Whole, low: int, begin: Whole, signs: Whole) -> ThresholdRows:
    """Return thresholds, as many at each place as the step there is high, above the level where each channel begins.

    Args:
        steps: From each integer to the next, from `low` on; (channels, integers - 1).
        low: The least integer.
        begin: The level of each channel below its steps.
        signs: -1 where a step is passed by going down.
    """
    least, high = int(begin.min()), low + steps.shape[1]
    rows, ends = [], []
    for row, sign in zip(steps, np.broadcast_to(signs, (len(steps),)), strict=True):
        places = np.repeat(np.arange(low + 1, high + 1), row)
        rows.append(places if sign > 0 else 1 - places[::-1])
        ends.append((low, high + 1) if sign > 0 else (-high, 1 - low))
    more = begin - least
    count = max(1, *(len(row) + int(each) for row, each in zip(rows, more, strict=True)))
    padded = [
        np.concatenate([np.full(each, behind), row, np.full(count - each - len(row), never)])
        for row, each, (behind, never) in zip(rows, more, ends, strict=True)
    ]
    return ThresholdRows(np.stack(padded), signs, least)
