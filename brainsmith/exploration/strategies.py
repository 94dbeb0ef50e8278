"""Which points are tried where not all are: Optuna's samplers propose them, which are asked and told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from brainsmith.blueprint.space.dimensions import Dimension
from brainsmith.blueprint.space.space import Space
from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_journal import PointRun
from brainsmith.exploration.vocabulary import NSGA2, RANDOM, TPE

_MOST_TRIES = 1000
"""How often a point is asked for that is not known yet and meets the constraints."""


class Sampler:
    """Proposes points by what is known of others.

    Args:
        space: Whose objectives are what is good.
        strategy: `RANDOM`, `TPE` or `NSGA2`.
        budget: How many points it proposes.
        seed: Of its random numbers.
        seeds: Points that it begins with.

    Raises:
        ExplorationError: Optuna is missing, or the space names no objectives, which all but `RANDOM` need.
    """

    def __init__(
        self,
        space: Space,
        strategy: str,
        budget: int,
        seed: int = 0,
        seeds: Sequence[Mapping[str, int]] = (),
    ) -> None:
        if not space.objectives and strategy != RANDOM:
            raise ExplorationError(
                f"{space.file}: the strategy {strategy} needs objectives below explore: objectives: {{fps: max, lut: min}}"
            )
        try:
            import optuna
        except ImportError:
            raise ExplorationError(
                f'the strategy {strategy} needs Optuna: pip install "brainsmith[search]"'
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        samplers = {
            RANDOM: optuna.samplers.RandomSampler,
            TPE: optuna.samplers.TPESampler,
            NSGA2: optuna.samplers.NSGAIISampler,
        }
        direction = optuna.study.StudyDirection
        directions = [
            direction.MAXIMIZE if wanted == "max" else direction.MINIMIZE
            for wanted in space.objectives.values()
        ]
        more = {"population_size": max(4, min(50, budget // 4))} if strategy == NSGA2 else {}
        self._study = optuna.create_study(
            directions=directions or [direction.MINIMIZE], sampler=samplers[strategy](seed=seed, **more)
        )
        self._failed, self._space = optuna.trial.TrialState.FAIL, space
        self._left = budget
        self._open: dict[tuple[int, ...], Any] = {}
        self._known: set[tuple[int, ...]] = set()
        for point in seeds:
            several = {each.name for each in space.dimensions if len(each.values) > 1}
            self._study.enqueue_trial({name: chosen for name, chosen in point.items() if name in several})

    def __call__(self, ended: Sequence[PointRun]) -> Iterator[Mapping[str, int]]:
        """Learn of runs that ended, and propose a point; none once the budget is used up."""
        for run in ended:
            self._learn(run)
        point = self._new() if self._left else None
        self._left = self._left - 1 if point is not None else 0
        if point is not None:
            yield point

    def _learn(self, run: PointRun) -> None:
        trial = self._open.pop(tuple(map(int, self._space.row_of(run.choices))), None)
        if trial is None:
            return
        values = [(run.figures or {}).get(name) for name in self._space.objectives]
        if (
            None in values
            or not values
            or not self._space.holds(self._space.row_of(run.choices), run.figures or {})
        ):
            self._study.tell(trial, state=self._failed)
        else:
            self._study.tell(trial, [float(value) for value in values if value is not None])

    def _new(self) -> dict[str, int] | None:
        """Return a point that was not proposed before; None if none is found."""
        for _ in range(_MOST_TRIES):
            trial = self._study.ask()
            point = _walk(self._space, partial(self._chosen, trial))
            row = self._space.row_of(point)
            key = tuple(map(int, row))
            if key not in self._known and self._space.holds(row):
                self._known.add(key)
                self._open[key] = trial
                return point
            self._study.tell(trial, state=self._failed)
        return None

    def _chosen(self, trial: Any, each: Dimension) -> int:
        count = len(each.values)
        if count == 1:
            return 0
        if _is_ordered(each.values):  # so that what is near is alike
            return int(trial.suggest_int(each.name, 0, count - 1))
        return int(trial.suggest_categorical(each.name, list(range(count))))


def _is_ordered(values: Sequence[object]) -> bool:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return len(numbers) == len(values) and numbers == sorted(numbers)


def _walk(space: Space, choose: Callable[[Dimension], int]) -> dict[str, int]:
    """Return a point, of which each alternative that matters is chosen by a function of its name and their number."""
    point: dict[str, int] = {}
    for each in space.dimensions:
        outer = None if each.within is None else space.dimensions[each.within[0]].name
        if outer is None or point.get(outer) == each.within[1]:  # type: ignore[index]
            point[each.name] = choose(each)
    return point
