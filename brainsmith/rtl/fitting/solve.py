"""The best foldings for a goal: the smallest interval, latency or cost, and then the cheapest circuit for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.fitting.choice_program import ChoiceProgram, Solution
from brainsmith.rtl.fitting.dominance import without_dominated
from brainsmith.rtl.fitting.smallest_latency import LatencySearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.rtl.fitting.options import Counts, DeviceBudget, Network

GOALS = ("fps", "latency", "resources")
"""What can be best: the rate, the time from a frame's first beat in to its last beat out, or the cost."""

_NEAREST_SECONDS = 10.0
"""How long what comes nearest is looked for, where nothing fits."""

_ROUNDING = 1e-9
"""Costs of two choices that differ by less are the same."""


@dataclass(frozen=True)
class Chosen:
    """A choice that fits, and how far from the best it can be at most.

    Attributes:
        choice: An option of each layer.
        goal: One of `GOALS`.
        interval: Cycles from frame to frame.
        interval_bound: No choice that fits has a smaller one; where that was not the goal, the interval.
        latency: Cycles from a frame's first beat in to its last beat out, by the layers' schedules; None if that was not
            the goal, like its bound.
        latency_bound: No choice that fits has a smaller one.
        needs: What it takes, (resources,).
        cost: The sum of the shares of the device of what is weighed.
        cost_bound: No choice that is as good by the goal costs less.
        seconds: What choosing took.
    """

    choice: tuple[int, ...]
    goal: str
    interval: int
    interval_bound: int
    latency: int | None
    latency_bound: int | None
    needs: Counts
    cost: float
    cost_bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """By what share the choice may cost more than the best one; 0 if it is proven to be that."""
        return max(0.0, 1 - self.cost_bound / self.cost) if self.cost else 0.0

    @property
    def proven(self) -> bool:
        """Whether no other choice is better."""
        best = self.interval <= self.interval_bound and (self.latency or 0) <= (self.latency_bound or 0)
        return best and self.cost - self.cost_bound <= _ROUNDING * max(1.0, self.cost)

    def bounded_by(self, other: Chosen) -> Chosen:
        """Return this choice with the bounds of another one, which was made for the same goal with more room."""
        alike = (self.interval, self.latency) == (other.interval, other.latency)
        return replace(
            self,
            interval_bound=other.interval_bound if self.goal == "fps" else self.interval,
            latency_bound=other.latency_bound,
            cost_bound=other.cost_bound if alike or self.goal == "resources" else self.cost_bound,
            seconds=self.seconds + other.seconds,
        )


@dataclass(frozen=True)
class Misfit:
    """No choice fits; the one that comes nearest to it.

    Attributes:
        choice: An option of each layer, which exceeds the limits by the smallest share; None if no option is fast enough.
        needs: What it takes, (resources,).
        slowest: The layer that keeps the network from the interval, if that is why; else empty.
        least: The smallest interval that the layers allow, whatever they take.
    """

    choice: tuple[int, ...] | None
    needs: Counts
    slowest: str
    least: int


def choose(
    network: Network,
    budget: DeviceBudget,
    goal: str = "fps",
    interval: int | None = None,
    seconds: float = 60.0,
) -> Chosen | Misfit:
    """Choose the foldings of all layers together.

    Args:
        network: Its layers' options.
        budget: What they may take.
        goal: One of `GOALS`.
        interval: The largest that is allowed, cycles; None for any.
        seconds: How long each program may take. If that is not enough, the choice says how far from the best it may be.
    """
    begin = time.perf_counter()
    least = int(network.intervals[0])
    allowed = _allowed(network, interval)
    if allowed is None:
        slowest = max(network.layers, key=lambda layer: int(layer.cycles.min()))
        return Misfit(None, np.zeros_like(budget.limits), slowest.name, least)
    few = without_dominated(_numbered(network).within(allowed), alike=goal == "latency")
    search = _GoalSearch(few, budget, seconds)
    found = (
        search.by_interval()
        if goal == "fps"
        else search.by_latency()
        if goal == "latency"
        else search.by_cost(allowed)
    )
    if found is None:
        few = without_dominated(few)
        nearest = ChoiceProgram(few, min(seconds, _NEAREST_SECONDS))
        near = nearest.solve(variable=nearest.exceed(budget.limits))
        choice = None if near.choice is None else _named(few, near.choice)
        needs = np.zeros_like(budget.limits) if choice is None else network.needs_of(choice)
        return Misfit(choice, needs, "", least)
    choice = _named(few, found.choice)
    needs, interval = network.needs_of(choice), network.interval_of(choice)
    cost = float(budget.cost(needs))
    return Chosen(
        choice=choice,
        goal=goal,
        interval=interval,
        interval_bound=min(found.interval_bound, interval) if goal == "fps" else interval,
        latency=found.latency,
        latency_bound=found.latency_bound,
        needs=needs,
        cost=cost,
        cost_bound=min(found.cost_bound, cost),
        seconds=time.perf_counter() - begin,
    )


def fits(
    network: Network, budget: DeviceBudget, interval: int | None = None, seconds: float = 10.0
) -> bool | None:
    """Tell whether some choice fits, which takes a small part of the time that the best one does.

    Args:
        network: Its layers' options.
        budget: What they may take.
        interval: The largest that is allowed, cycles; None for any.
        seconds: How long to look.

    Returns:
        None if that was too short.
    """
    allowed = _allowed(network, interval)
    if allowed is None:
        return False
    program = ChoiceProgram(without_dominated(network.within(allowed)), seconds)
    program.limit(budget.limits)
    if program.solve(relaxed=True).choice is None:
        return False
    found = program.solve()
    if found.choice is None:
        return False if np.isinf(found.bound) else None
    return True


@dataclass(frozen=True)
class _Found:
    """What a search found: the cheapest choice that is as good by the goal as it could find, and bounds."""

    choice: tuple[int, ...]
    cost_bound: float
    interval_bound: int = 0
    latency: int | None = None
    latency_bound: int | None = None


class _GoalSearch:
    """The searches for each goal; each returns None if nothing fits.

    Args:
        network: With the options that may be worth choosing.
        budget: What they may take.
        seconds: How long each program may take.
    """

    def __init__(self, network: Network, budget: DeviceBudget, seconds: float) -> None:
        self.network, self._budget, self._seconds = network, budget, seconds

    def by_interval(self) -> _Found | None:
        """Find the smallest interval by halving, first of the relaxation, whose answer is a bound; then the choice."""
        intervals = self.network.intervals
        first = _first(
            len(intervals), lambda at: self._cheapest(int(intervals[at]), relaxed=True).value < np.inf
        )
        bound, found = None, None
        for at in range(first, len(intervals)):  # the relaxation is near: seldom more than one
            found = self._cheapest(int(intervals[at]))
            if bound is None and found.bound < np.inf:
                bound = int(intervals[at])
            if found.choice is not None:
                break
        if found is None or found.choice is None or bound is None:
            return None
        return _Found(found.choice, found.bound, bound)

    def by_latency(self) -> _Found | None:
        """Find the smallest latency, then the cheapest choice that has it."""
        begin = self.by_interval()
        if begin is None:
            return None
        found = LatencySearch(self.network, self._budget, begin.choice, self._seconds)
        found.lower()
        cheapest, bound = found.cheapest()
        return _Found(cheapest, bound, latency=found.latency, latency_bound=found.bound)

    def by_cost(self, interval: int) -> _Found | None:
        """Find the cheapest choice of an interval; how fast it is, is not looked at."""
        found = self._cheapest(interval)
        return None if found.choice is None else _Found(found.choice, found.bound)

    def _cheapest(self, interval: int, *, relaxed: bool = False) -> Solution:
        few = without_dominated(_numbered(self.network).within(interval))
        program = ChoiceProgram(few, self._seconds)
        program.limit(self._budget.limits)
        found = program.solve(self._budget.prices, relaxed=relaxed)
        if found.choice is None:
            return found
        return Solution(_named(few, found.choice), found.value, found.bound)


def _allowed(network: Network, interval: int | None) -> int | None:
    """Return the largest interval of the network that is allowed; None if there is none."""
    intervals = network.intervals if interval is None else network.intervals[network.intervals <= interval]
    return int(intervals[-1]) if len(intervals) else None


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """Return the first number for which something holds that holds for all after it; `count` if for none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _named(few: Network, choice: Sequence[int]) -> tuple[int, ...]:
    """Return what a choice among some options of a network that was `_numbered` means among all."""
    return tuple(int(layer.foldings[at]) for layer, at in zip(few.layers, choice, strict=True))


def _numbered(network: Network) -> Network:
    """Return a network whose options are called by their places."""
    layers = tuple(replace(layer, foldings=range(len(layer.cycles))) for layer in network.layers)
    return replace(network, layers=layers)
