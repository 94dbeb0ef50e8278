"""The smallest latency that fits, by programs that learn why choices take as long as they do.

The latency of a choice is the longest way of its beats, of which there are too many to write down. So a program begins with
none, and its best choice is played: if that takes longer than the program says, the program learns the longest way, which
bounds the latencies of all choices. Each choice comes once at most, so it ends; what the program says is a bound at any time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.fitting.choice_program import ChoiceProgram, Solution
from brainsmith.rtl.fitting.pipeline import Way, latency_of, longest_way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.fitting.options import DeviceBudget, Network

_ROUNDING = 1e-6
"""Of a cycle: by how much HiGHS may be off."""

_SAME = 1e-9
"""Costs of two choices that differ by less are the same."""


class LatencySearch:
    """The search for the smallest latency, and then for the cheapest choice that has it.

    Args:
        network: With its pipeline.
        budget: What the choice may take.
        choice: One that fits.
        seconds: How long each of the two searches may take.

    Attributes:
        choice: The one with the smallest latency so far.
        latency: Its latency, cycles.
        bound: No choice that fits has a smaller one.
    """

    def __init__(
        self, network: Network, budget: DeviceBudget, choice: Sequence[int], seconds: float
    ) -> None:
        self._network, self._budget, self._seconds = network, budget, seconds
        self.choice, self.latency, self.bound = tuple(choice), latency_of(network, choice), 0
        self._few, self._ways = network, list[Way]()
        self._kept = [np.arange(len(layer.cycles)) for layer in network.layers]
        self._learn(choice)

    def lower(self) -> None:
        """Find the choice with the smallest latency; what is proven, if time is up before, is the bound."""
        end = time.perf_counter() + self._seconds
        while self.bound < self.latency and (left := end - time.perf_counter()) > 0:
            program, latency = self._program(left)
            found = program.solve(variable=latency)
            self.bound = max(self.bound, min(_whole(found.bound), self.latency))
            if found.choice is None:
                break
            latency = latency_of(self._few, found.choice)
            if latency < self.latency:
                self.choice, self.latency = self._original(found.choice), latency
            self._learn(found.choice)

    def cheapest(self) -> tuple[tuple[int, ...], float]:
        """Return the cheapest choice with a latency as small as the smallest found, and what none of these costs less than."""
        end, best, bound = time.perf_counter() + self._seconds, self.choice, 0.0
        while (left := end - time.perf_counter()) > 0:
            program, _ = self._program(left, self.latency)
            found: Solution = program.solve(self._budget.prices)
            bound = max(bound, min(found.bound, self._cost(best)))
            if found.choice is None:
                break
            choice = self._original(found.choice)
            if self._cost(choice) >= self._cost(best) - _SAME:
                break
            if latency_of(self._few, found.choice) <= self.latency:
                best = choice
            else:
                self._learn(found.choice)
        return best, bound

    def _program(self, seconds: float, most: int | None = None) -> tuple[ChoiceProgram, int]:
        """Return a program of what is known, and the place of the latency in it."""
        program = ChoiceProgram(self._few, seconds)
        program.limit(self._budget.limits)
        latency = program.latency(most)
        for way in self._ways:
            program.follow(latency, way)
        return program, latency

    def _learn(self, choice: Sequence[int]) -> None:
        """Learn why a choice is not faster, and leave out the options with which none is as fast as the best so far."""
        self._ways.append(longest_way(self._few, choice))
        which = [
            np.min([way.least(self._few, place) <= self.latency for way in self._ways], axis=0)
            for place in range(len(self._kept))
        ]
        if not all(few.all() for few in which):
            self._ways = [way.kept(which) for way in self._ways]
            self._few = self._few.kept(which)
            self._kept = [kept[few] for kept, few in zip(self._kept, which, strict=True)]

    def _cost(self, choice: Sequence[int]) -> float:
        return float(self._budget.cost(self._network.needs_of(choice)))

    def _original(self, choice: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(kept[at]) for kept, at in zip(self._kept, choice, strict=True))


def _whole(bound: float) -> int:
    """Return the least number of cycles that is not below a bound."""
    return int(np.ceil(bound - _ROUNDING)) if np.isfinite(bound) else np.iinfo(np.int64).max
