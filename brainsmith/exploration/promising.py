"""Which points are worth building: those of the first fronts by the models, each kind of circuit once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from brainsmith.exploration.model_figures import FIGURES_BY_MODELS, FrontEnds, Table
from brainsmith.exploration.pareto import fronts_of

Rows = NDArray[np.intp]
"""Places of points, in their order."""


def promising(front_ends: FrontEnds, table: Table, most: int) -> Rows:
    """Return the places of points that are worth building.

    Where an objective is not known by the models, such as an accuracy, the points of each front end are ranked among
    themselves: it may be the best of them. Of points that differ in their rates and come out the same, one counts. A front
    end without models is represented by its first point, which says why when it is built.

    Args:
        front_ends: The points.
        table: Their figures.
        most: How many at most.
    """
    space = front_ends.space
    objectives = {name: each for name, each in space.objectives.items() if name in FIGURES_BY_MODELS}
    candidates = _different(front_ends, table)
    candidates = candidates[space.admits(front_ends.points[candidates], _of(table, candidates))]
    known = ~np.isnan(table["interval_cycles"])
    strangers = np.array([one.rows[0] for one in front_ends.each if not known[one.rows].any()], np.intp)
    if not objectives:
        return thinned(np.union1d(candidates, strangers), most)
    groups = [candidates]
    if len(objectives) < len(space.objectives):
        groups = [np.intersect1d(candidates, one.rows) for one in front_ends.each]
    ranked = [list(fronts_of(_of(table, group), objectives)) for group in groups]
    chosen: Rows = thinned(strangers, most)
    for rank in range(max(map(len, ranked), default=0)):
        level = [
            group[fronts[rank]] for group, fronts in zip(groups, ranked, strict=True) if rank < len(fronts)
        ]
        room = most - len(chosen)
        if room <= 0:
            break
        chosen = np.union1d(chosen, thinned(np.concatenate(level), room))
    return chosen


def thinned(rows: Rows, most: int) -> Rows:
    """Return at most so many of some places, spread evenly, the first and the last among them."""
    if len(rows) <= most:
        return rows
    kept: Rows = rows[np.unique(np.linspace(0, len(rows) - 1, max(most, 0)).round().astype(np.intp))]
    return kept


def _of(table: Mapping[str, NDArray[np.float64]], rows: Rows) -> Table:
    return {name: column[rows] for name, column in table.items()}


def _different(front_ends: FrontEnds, table: Table) -> Rows:
    """Return the first of all points that differ in nothing but the rate that is asked for, and come out the same."""
    rates = set(front_ends.rates)
    others = [at for at in range(front_ends.points.shape[1]) if at not in rates]
    columns = [
        *(front_ends.points[:, at].astype(float) for at in others),
        *(table[n] for n in FIGURES_BY_MODELS),
    ]
    known = np.flatnonzero(~np.isnan(table["interval_cycles"]))
    _, first = np.unique(np.stack(columns, axis=1)[known], axis=0, return_index=True)
    found: Rows = np.sort(known[first])
    return found
