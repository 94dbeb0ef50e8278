"""The smallest latency that fits, by programs that learn why choices take as long as they do.

There are too many ways in which a frame's beats can wait to write all of them down. So a program begins with what they wait
for in one choice, and its best choice is played: if that takes longer than the program says, the program learns what its
beats wait for, which bounds the latencies of all choices. Each choice comes once at most, so it ends; what the program says
is a bound at any time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.fitting.choice_program import ChoiceProgram
from brainsmith.rtl.fitting.pipeline import Moment, Wait, latency_of, order_of, waits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from brainsmith.rtl.fitting.options import DeviceBudget, Network

_ROUNDING = 1e-3
"""Of a cycle: by how much HiGHS may be off; bounds are whole."""

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

    def __init__(self, network: Network, budget: DeviceBudget, choice: Sequence[int], seconds: float) -> None:
        self._network, self._budget, self._seconds = network, budget, seconds
        self.choice, self.latency, self.bound = tuple(choice), latency_of(network, choice), 0
        self._few, self._waits = network, dict[tuple[Moment | None, Moment | None], Wait]()
        self._kept = [np.arange(len(layer.cycles)) for layer in network.layers]
        self._learn(choice)

    def lower(self) -> None:
        """Find the choice with the smallest latency; what is proven, if time is up before, is the bound."""
        end = time.perf_counter() + self._seconds
        for relaxed in (True, False):  # a relaxed program takes a small part of the time, and teaches most
            while self.bound < self.latency and (left := end - time.perf_counter()) > 0:
                program, latency = self._program(left)
                found = program.solve(variable=latency, relaxed=relaxed)
                self.bound = max(self.bound, min(_whole(found.bound), self.latency))
                if found.choice is None or not self._taught(found.choice):
                    break

    def cheapest(self) -> tuple[tuple[int, ...], float]:
        """Return the cheapest choice that is as fast as the fastest found, and what none of these costs less than."""
        end, best, bound = time.perf_counter() + self._seconds, self.choice, 0.0
        while (left := end - time.perf_counter()) > 0:
            program, _ = self._program(left)
            found = program.solve(self._budget.prices)
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

    def _program(self, seconds: float) -> tuple[ChoiceProgram, int]:
        """Return a program of what is known, and the place of the latency in it: at most that of the best so far."""
        program = ChoiceProgram(self._few, seconds)
        program.limit(self._budget.limits)
        return program, program.latency(self._in_order(), self.latency)

    def _in_order(self) -> list[Wait]:
        return sorted(self._waits.values(), key=lambda wait: order_of(self._few, wait))

    def _taught(self, choice: Sequence[int]) -> bool:
        """Play a choice, keep it if it fits and is the best so far; tell whether something was learned."""
        known, original, latency = len(self._waits), self._original(choice), latency_of(self._few, choice)
        better = latency < self.latency and self._fits(original)
        if better:
            self.choice, self.latency = original, latency
        self._learn(choice)
        return better or len(self._waits) > known

    def _learn(self, choice: Sequence[int]) -> None:
        """Learn why a choice is not faster, and leave out the options with which none is as fast as the best so far."""
        explained = {after for _, after in self._waits}
        for wait in waits_of(self._few, choice, explained.__contains__):
            self._waits.setdefault((wait.before, wait.after), wait)
        which = self._fast_enough()
        if not all(few.all() for few in which):
            self._few = self._few.kept(which)
            self._kept = [kept[few] for kept, few in zip(self._kept, which, strict=True)]
            self._waits = {
                ends: wait if wait.layer is None else wait._replace(cycles=wait.cycles[which[wait.layer]])
                for ends, wait in self._waits.items()
            }

    def _fast_enough(self) -> list[NDArray[np.bool_]]:
        """Tell of each layer's options with which a latency may be as small as the best so far, (options,) each."""
        waits = self._in_order()
        since, until = _since_reset(waits, self._few), _until_end(waits, self._few)
        which = [np.ones(len(kept), bool) for kept in self._kept]
        for wait in waits:
            if wait.layer is not None:
                begin = 0.0 if wait.before is None else since.get(wait.before, 0.0)
                which[wait.layer] &= begin + wait.cycles + until.get(wait.after, -np.inf) <= self.latency
        return which

    def _fits(self, choice: Sequence[int]) -> bool:
        return bool((self._network.needs_of(choice) <= self._budget.limits).all())

    def _cost(self, choice: Sequence[int]) -> float:
        return float(self._budget.cost(self._network.needs_of(choice)))

    def _original(self, choice: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(kept[at]) for kept, at in zip(self._kept, choice, strict=True))


def _since_reset(waits: Sequence[Wait], network: Network) -> dict[Moment | None, float]:
    """Return when each moment, and the end of the frame, is at the earliest."""
    found: dict[Moment | None, float] = {}
    for wait in waits:
        begin = 0.0 if wait.before is None else found.get(wait.before, 0.0)
        found[wait.after] = max(found.get(wait.after, 0.0), begin + wait.least(network))
    return found


def _until_end(waits: Sequence[Wait], network: Network) -> dict[Moment | None, float]:
    """Return how long before the end of the frame each moment is at least; minus infinity if that may be behind it."""
    found: dict[Moment | None, float] = {None: 0.0}
    for wait in reversed(waits):
        if wait.before is not None:
            end = wait.least(network) + found.get(wait.after, -np.inf)
            found[wait.before] = max(found.get(wait.before, -np.inf), end)
    return found


def _whole(bound: float) -> int:
    """Return the least number of cycles that is not below a bound."""
    return int(np.ceil(bound - _ROUNDING)) if np.isfinite(bound) else np.iinfo(np.int64).max
