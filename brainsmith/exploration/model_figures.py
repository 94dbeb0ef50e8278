"""The figures of points by the models alone: the front of each front end's foldings, and each point's place on it.

Points that are the same up to their foldings share a front end. Of that, one build lists the cheapest circuit of each
interval; which of these is a point's own follows from its rate or its fit by arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainsmith.blueprint.schema import Goal
from brainsmith.blueprint.space.space import Points, Space
from brainsmith.exploration.space_plan import depths_of, fields_of, order_of
from brainsmith.exploration.step_reads import FIT, RATE
from brainsmith.exploration.vocabulary import FOLDING
from brainsmith.rtl.fitting.fit import USE

FIGURES_BY_MODELS = ("fps", "interval_cycles", "lut", "ff", "bram18", "uram", "dsp", "cost")
"""Those of the figures that follow from a front."""

Table = dict[str, NDArray[np.float64]]
"""By figure, a value for each point; not a number where it is not known."""


class FrontEnd(NamedTuple):
    """Points that are the same up to their foldings.

    Attributes:
        point: The first of them.
        rows: The places of all of them.
    """

    point: Mapping[str, int]
    rows: NDArray[np.intp]


@dataclass(frozen=True)
class FrontEnds:
    """The points of a space by front ends.

    Attributes:
        space: Of which the points are.
        points: Rows of it.
        each: In the order of their first points; none if the space has no step `fold`.
        rates: The dimensions, by their places, that change nothing but the rate or the fit that is asked for.
    """

    space: Space
    points: Points
    each: Sequence[FrontEnd]
    rates: Sequence[int]

    def figures(self, fronts: Iterable[Mapping[str, Any] | None]) -> Table:
        """Return the figures of all points.

        Args:
            fronts: Of each front end, as the step `rate_front` reports it; None where there is none.
        """
        table = {name: np.full(len(self.points), np.nan) for name in FIGURES_BY_MODELS}
        for front_end, front in zip(self.each, fronts, strict=True):
            if front is not None and front["points"]:
                for name, column in _placed(front, self._goals(front_end)).items():
                    table[name][front_end.rows] = column
        return table

    def _goals(self, front_end: FrontEnd) -> tuple[list[Goal], NDArray[np.float64] | None, NDArray[np.intp]]:
        """Return the different goals of a front end's points, rates that go before theirs, and whose is which."""
        chosen = self.points[front_end.rows][:, np.array(self.rates, np.intp)]
        rows, first, which = np.unique(chosen, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        rates = [self.space.dimensions[at] for at in self.rates]
        if len(rates) == 1 and rates[0].places == (("target", "fps"),):
            values = np.array([float(rates[0].values[at]) for (at,) in rows])
            return [self.space.blueprint(front_end.point).goal] * len(rows), values, which
        points = (self.space.point_of(self.points[front_end.rows[at]]) for at in first)
        return [self.space.blueprint(point).goal for point in points], None, which


def front_ends_of(space: Space, points: Points) -> FrontEnds:
    """Group points by what they have in common up to their foldings."""
    order = order_of(space)
    depths = depths_of(space, order)
    place = next((at for at, entries in enumerate(order) if _is_folding(entries)), None)
    if place is None:
        return FrontEnds(space, points, (), ())
    goals = [_asks(each.places) for each in space.dimensions]
    before = [at for at, depth in enumerate(depths) if depth <= place and goals[at] != _ONLY]
    rates = [at for at, asks in enumerate(goals) if asks]
    _, first, which = np.unique(points[:, before], axis=0, return_index=True, return_inverse=True)
    rows = np.split(
        np.argsort(which.reshape(-1), kind="stable"), np.cumsum(np.bincount(which.reshape(-1)))[:-1]
    )
    found = [FrontEnd(space.point_of(points[at]), here) for at, here in zip(first, rows, strict=True)]
    return FrontEnds(space, points, sorted(found, key=lambda one: int(one.rows[0])), rates)


_ONLY, _ALSO, _NOT = 2, 1, 0


def _asks(places: Iterable[tuple[str, ...]]) -> int:
    """Tell whether a dimension changes the rate or the fit that is asked for, and nothing else."""
    fields = [fields_of(keys) for keys in places]
    if all(one and one <= {RATE, FIT} for one in fields) and ("target", "device") not in places:
        return _ONLY
    return _ALSO if any(one & {RATE, FIT} for one in fields) else _NOT


def _is_folding(entries: Iterable[Any]) -> bool:
    return any(entry.kind == "step" and entry.name.name == FOLDING for entry in entries)


def _placed(
    front: Mapping[str, Any], goals: tuple[list[Goal], NDArray[np.float64] | None, NDArray[np.intp]]
) -> Table:
    """Return the figures of a front end's points, each by its goal."""
    asked, rates, which = goals
    points = front["points"]
    columns: Table = {
        name: np.array([point["needs"][name] for point in points], float) for name in points[0]["needs"]
    }
    columns |= {
        name: np.array([point[name] for point in points], float)
        for name in ("interval_cycles", "fps", "cost")
    }
    if rates is None:
        at = np.array([_own(front, columns, goal, goal.fps) for goal in asked])
    else:  # the same goal but for the rate
        intervals = np.maximum(1, np.floor(1e9 / (front["clock_ns"] * rates)))
        at = np.maximum(np.searchsorted(columns["interval_cycles"], intervals, side="right") - 1, 0)
    at = at[which]
    return {name: np.where(at < 0, np.nan, columns[name][at]) for name in FIGURES_BY_MODELS}


def _own(front: Mapping[str, Any], columns: Table, goal: Goal, rate: float | None) -> int:
    """Return the place on a front of the circuit for a goal; -1 if none of them fits."""
    intervals = columns["interval_cycles"]
    fit = goal.fit
    rate = rate if fit is None else fit.fps
    slowest = len(intervals) - 1
    if rate is not None:
        interval = max(1, int(1e9 / (front["clock_ns"] * rate)))
        slowest = int(np.searchsorted(intervals, interval, side="right")) - 1
    if fit is None:
        return max(slowest, 0)
    available = {**front["available"], **goal.device}
    use = USE if fit.use is None else fit.use
    fits = np.all([columns[name] <= use * held for name, held in available.items()], axis=0)
    fits[slowest + 1 :] = False
    found = np.flatnonzero(fits)
    if not len(found):
        return -1
    return int(found[-1] if fit.goal == "resources" else found[0])
