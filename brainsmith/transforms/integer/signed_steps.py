"""SignedSteps: any function of integers to levels, as what it rises by and what it falls by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.transforms.integer.level_runs import LevelRuns, all_integers, level_runs, too_many
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.threshold_rows import MOST_LEVELS, ThresholdRows
from brainsmith.transforms.lattice.value_lattice import common_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Doubles, Singles, Whole
    from brainsmith.transforms.lattice.staircases import Staircase

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
    return signed_steps(level_runs(tensor, staircase), tensor.range)


def tabled_values(tensor: IntegerTensor) -> tuple[SignedSteps, Doubles]:
    """Return any function of integers as levels times a unit, one or one for each channel.

    Raises:
        NoLayerError: Its results have no unit, or are not finite; or they, or its integers, are too many.
    """
    numbers = all_integers(tensor)
    if numbers is None:
        raise too_many(tensor)
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
    low, high = tensor.range.ends
    runs = [LevelRuns.of(np.arange(low, high + 1), row) for row in levels]
    return signed_steps(runs, tensor.range), np.asarray(units)


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


def signed_steps(runs: Sequence[LevelRuns], given: IntegerRange) -> SignedSteps:
    """Return levels of integers, of each channel or of all, as thresholds.

    Thresholds that every integer reaches make up for channels that begin, or end, at other levels.

    Args:
        runs: The levels, one for each channel or one for all.
        given: The range of the integers.

    Raises:
        NoLayerError: They are too many.
    """
    up, down = ([np.maximum(way * each.changes, 0) for each in runs] for way in (1, -1))
    most = max(int(max(rise.sum(), fall.sum())) for rise, fall in zip(up, down, strict=True))
    if most > MOST_LEVELS:
        raise NoLayerError(
            f"its results have {most + 1} levels, more than the {MOST_LEVELS + 1} that thresholds give",
            "put a quantiser after it",
        )
    reached = IntegerRange(*(np.asarray([end(each.levels) for each in runs]) for end in (np.min, np.max)))
    rises, falls = (np.asarray([bool(each.any()) for each in steps]) for steps in (up, down))
    first, last = (np.asarray([each.levels[at] for each in runs]) for at in (0, -1))
    places, ends = [each.places for each in runs], given.ends
    if not (rises & falls).any():
        signs = np.where(falls, -1, 1)
        steps = [fall if falling else rise for rise, fall, falling in zip(up, down, falls, strict=True)]
        begin = np.where(falls, last, first)
        found = _rows(places, steps, ends, begin, signs if (signs != signs[0]).any() else signs[:1])
        only_falls = bool(falls.all())
        return SignedSteps(None if only_falls else found, found if only_falls else None, reached)
    one, fallen = np.ones(1, np.int64), np.asarray([each.sum() for each in down])
    rising, falling = _rows(places, up, ends, first, one), _rows(places, down, ends, -fallen, -one)
    return SignedSteps(rising, falling, reached)


def _rows(
    places: Sequence[Whole], steps: Sequence[Whole], ends: tuple[int, int], begin: Whole, signs: Whole
) -> ThresholdRows:
    """Return thresholds, as many at each place as the step there is high, above the level where each channel begins.

    Args:
        places: Integers at which the level of each channel changes.
        steps: By how much.
        ends: The least integer, and the greatest.
        begin: The level of each channel below its steps.
        signs: -1 where a step is passed by going down.
    """
    least, (low, high) = int(begin.min()), ends
    rows, limits = [], []
    for at, height, sign in zip(places, steps, np.broadcast_to(signs, (len(steps),)), strict=True):
        row = np.repeat(at, height)
        rows.append(row if sign > 0 else 1 - row[::-1])
        limits.append((low, high + 1) if sign > 0 else (-high, 1 - low))
    more = begin - least
    count = max(1, *(len(row) + int(each) for row, each in zip(rows, more, strict=True)))
    padded = [
        np.concatenate([np.full(each, behind), row, np.full(count - each - len(row), never)])
        for row, each, (behind, never) in zip(rows, more, limits, strict=True)
    ]
    return ThresholdRows(np.stack(padded), signs, least)
