"""An exploration from the models to circuits: all points by the models, the promising by estimates, their front further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from brainsmith.blueprint.outputs import OUTPUTS
from brainsmith.blueprint.schema import FIGURES
from brainsmith.blueprint.space.space import Points, Space
from brainsmith.exploration.exploring import Exploration
from brainsmith.exploration.model_figures import FIGURES_BY_MODELS, FrontEnds, Table, front_ends_of
from brainsmith.exploration.pareto import front_of
from brainsmith.exploration.point_journal import PointRun
from brainsmith.exploration.promising import Rows, promising, thinned
from brainsmith.exploration.strategies import Sampler
from brainsmith.exploration.vocabulary import GRID, MODELS, RANDOM

BUDGET = 64
"""How many points are built to `estimates` unless a budget says another number."""

_NARROWER = 4
"""Of so many points built to one fidelity, one is built to the next at most."""

_SHOWN = 2000
"""Of points that are known by the models alone, so many of the first fronts are listed one by one."""


@dataclass(frozen=True)
class Explored:
    """What is known of a space.

    Attributes:
        space: It.
        fidelity: The furthest at which points are done; of these is the front.
        count: How many points were considered.
        runs: Of each point that was built or shown, the one at its furthest fidelity.
        best: Those of them that meet the constraints and that no other one beats.
        objectives: Those of the space that are known at the fidelity.
        points: All that were considered, where they are listed, and their figures by the models; empty without.
        table: The figures.
        unmodelled: Of front ends without models, why.
    """

    space: Space
    fidelity: str
    count: int
    runs: Sequence[PointRun]
    best: Sequence[PointRun]
    objectives: Mapping[str, str]
    points: Points
    table: Table
    unmodelled: Sequence[str] = ()


def explore(
    exploration: Exploration,
    produce: str = "estimates",
    strategy: str = GRID,
    budget: int = BUDGET,
    seed: int = 0,
) -> Explored:
    """Explore a space.

    Args:
        exploration: Where, with how many workers.
        produce: The furthest fidelity: `MODELS`, or one of `OUTPUTS`.
        strategy: One of `STRATEGIES`; the points of all but `grid` are built without a look at the models, with which
            `tpe` and `nsga2` begin where there are any.
        budget: How many points are built to `estimates` at most. Where there are no more, all are, and the models are not
            asked; of each further fidelity the front is built, a quarter of the points at most.
        seed: Of random numbers.

    Raises:
        ExplorationError: The exploration cannot begin or go on.
        BlueprintError: The space has no point, or too many to list for the strategy.
    """
    space = exploration.space
    modelled = _Modelled(exploration)
    if strategy == GRID:
        points = space.points()
        count, chosen = len(points), np.arange(len(points))
        if count > budget or produce == MODELS:
            modelled.list(points)
            chosen = modelled.promising(budget)
        if produce == MODELS:
            return _by_models(modelled)
        runs = _built(exploration, points[chosen])
    else:
        seeds = [] if strategy == RANDOM else modelled.seeds(budget // _NARROWER)
        sampler = Sampler(space, strategy, budget, seed, seeds)
        runs = exploration.run([], OUTPUTS[0], sampler)
        count = len(runs)
    known = {run.key: run for run in runs}
    fidelity, most = OUTPUTS[0], budget
    for fidelity_next in _rungs(produce):
        most = max(1, most // _NARROWER)
        found = list(known.values())
        # Where no objective is known yet, or there is none, no point is better than another.
        best = (_best if known_objectives(space, found) else _admitted)(space, found, fidelity)
        if not best:
            break
        chosen = thinned(np.arange(len(best)), most)
        rows = [space.row_of(best[at].choices) for at in chosen]
        known |= {run.key: run for run in exploration.run(rows, fidelity_next) if run.state != "waiting"}
        if not any(run.state == "done" and run.fidelity == fidelity_next for run in known.values()):
            break
        fidelity = fidelity_next
    found = list(known.values())
    best = _best(space, found, fidelity)
    objectives = known_objectives(space, found)
    return Explored(
        space, fidelity, count, found, best, objectives, modelled.points, modelled.table, modelled.reasons
    )


def so_far(space: Space, runs: Sequence[PointRun]) -> Explored:
    """Return what is known while an exploration runs: runs that ended, of each point the last one."""
    found = list({run.key: run for run in runs if run.fidelity != MODELS}.values())
    done = [run.fidelity for run in found if run.state == "done"]
    fidelity = max(done, key=OUTPUTS.index, default=OUTPUTS[0])
    best, objectives = _best(space, found, fidelity), known_objectives(space, found)
    nothing = np.zeros((0, len(space.dimensions)), np.int32)
    return Explored(space, fidelity, len(found), found, best, objectives, nothing, {})


def known_objectives(space: Space, runs: Sequence[PointRun]) -> dict[str, str]:
    """Return the objectives of which a point has the figure."""
    known = {name for run in runs for name, value in (run.figures or {}).items() if value is not None}
    return {name: wanted for name, wanted in space.objectives.items() if name in known}


def _rungs(produce: str) -> list[str]:
    """Return the fidelities after estimates, up to one."""
    further = OUTPUTS[1 : OUTPUTS.index(produce) + 1]
    return [one for one in further if one != "rtl" or produce == "rtl"]


def _built(exploration: Exploration, points: Points) -> list[PointRun]:
    return exploration.run(points, OUTPUTS[0])


def _best(space: Space, runs: Sequence[PointRun], fidelity: str) -> list[PointRun]:
    """Return the front of what was built so far."""
    done = _admitted(space, runs, fidelity)
    return [done[at] for at in front_of([run.figures or {} for run in done], known_objectives(space, done))]


def _admitted(space: Space, runs: Sequence[PointRun], fidelity: str) -> list[PointRun]:
    """Return what was built so far and meets the constraints."""
    done = [run for run in runs if run.state == "done" and run.fidelity == fidelity]
    if not done:
        return []
    rows = np.stack([space.row_of(run.choices) for run in done])
    columns = {
        name: np.array([_number((run.figures or {}).get(name)) for run in done], float) for name in FIGURES
    }
    return [run for run, meets in zip(done, space.admits(rows, columns), strict=True) if meets]


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


class _Modelled:
    """The points of a space by the models, where they are asked."""

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._front_ends: FrontEnds | None = None
        self.points: Points = np.zeros((0, len(exploration.space.dimensions)), np.int32)
        self.table: Table = {}
        self.reasons: list[str] = []

    @property
    def space(self) -> Space:
        return self._exploration.space

    def list(self, points: Points) -> None:
        """Work out the figures of all points."""
        self._front_ends = front_ends_of(self.space, points)
        firsts = points[[int(one.rows[0]) for one in self._front_ends.each]]
        runs = self._exploration.run(firsts, MODELS)
        by_key = {run.key: run for run in runs}
        ordered = [by_key[self._exploration.key(one.point)] for one in self._front_ends.each]
        self.points = points
        self.table = self._front_ends.figures(run.figures if run else None for run in ordered)
        self.reasons = [run.reason for run in runs if run.state == "failed" and run.reason]
        if not self._front_ends.each:
            self.reasons = ["the blueprint has no step 'fold', whose foldings the models list"]

    def promising(self, most: int) -> Rows:
        """Return the places of points that are worth building; evenly drawn ones where nothing is known."""
        assert self._front_ends is not None
        if not self._front_ends.each:
            return thinned(np.arange(len(self.points)), most)
        return promising(self._front_ends, self.table, most)

    def seeds(self, most: int) -> Sequence[dict[str, int]]:
        """Return points for a strategy to begin with; none where the models cannot be asked for all of them."""
        from brainsmith.blueprint.space.space import MOST_POINTS

        if self.space.size > MOST_POINTS or not most:
            return []
        points = self.space.points()
        if len(front_ends_of(self.space, points).each) > BUDGET:
            return []
        self.list(points)
        return [self.space.point_of(points[at]) for at in self.promising(most)]


def _by_models(modelled: _Modelled) -> Explored:
    """Return what is known by the models alone."""
    space, table = modelled.space, modelled.table
    shown = modelled.promising(_SHOWN)
    runs = [
        PointRun(
            "",
            int(at),
            space.point_of(modelled.points[at]),
            MODELS,
            "failed" if np.isnan(table["fps"][at]) else "done",
            1,
            {name: _plain(table[name][at]) if name in FIGURES_BY_MODELS else None for name in FIGURES},
            None,
            None,
        )
        for at in shown
    ]
    best = _best(space, runs, MODELS)
    objectives = known_objectives(space, runs)
    return Explored(
        space, MODELS, len(modelled.points), runs, best, objectives, modelled.points, table, modelled.reasons
    )


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
