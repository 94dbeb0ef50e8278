"""Search the smallest FIFOs that keep a design's rate: no one of them can be smaller while the others stay."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError
from brainsmith.progress import Task
from brainsmith.rtl.sizing.fifo_hardware import depth_of, held, next_smaller
from brainsmith.rtl.sizing.gauges import SEARCH_CYCLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.rtl.sizing.sizing_runs import Run, Runner

    Judge = Callable[[dict[str, int]], bool]


class BudgetSpentError(Exception):
    """The search may not simulate any more; it ends with what it has."""


@dataclass(frozen=True)
class Budget:
    """How much a search may simulate.

    Attributes:
        simulations: Runs.
        cycles: Of all of them together.
    """

    simulations: int = 2_000
    cycles: int = SEARCH_CYCLES


@dataclass(frozen=True)
class Shrunk:
    """What a search found.

    Attributes:
        depths: By the names of links.
        minimal: Whether it is shown that no FIFO can be smaller while the others stay; otherwise the budget was spent.
    """

    depths: dict[str, int]
    minimal: bool


class Rate:
    """Whether depths keep a design's rate, by simulation; no vector of depths is simulated twice.

    Inputs are offered as fast as they are taken. The rate is kept if the frames of the last half come at the interval
    at which they come with the first depths (or FINN's estimate, if that is longer), the last one at most two intervals
    later than there, with the same values.

    Args:
        runner: Of the design with adjustable FIFOs.
        depths: The first ones, large.
        frames: Of each run.
        budget: For all that is run.

    Raises:
        SimulationError: The design does not give its frames with the first depths.
    """

    def __init__(self, runner: Runner, depths: dict[str, int], frames: int, budget: Budget) -> None:
        self._runner = runner
        self._budget = budget
        self._frames = frames
        self._known = {tuple(depths.values()): True}
        self._reference = runner.run(frames, depths)
        self._interval = max(float(runner.design.interval), self._reference.interval)
        self._limit = self._reference.result.cycles + 2 * ceil(self._interval)

    def __call__(self, depths: dict[str, int]) -> bool:
        """Tell whether depths keep the rate.

        Raises:
            BudgetSpentError: They would have to be simulated, and no more may be.
        """
        key = tuple(depths.values())
        if key not in self._known:
            spent = self._runner
            if spent.simulations >= self._budget.simulations or spent.cycles >= self._budget.cycles:
                raise BudgetSpentError
            self._known[key] = self._simulate(depths)
        return self._known[key]

    def is_kept_by(self, run: Run) -> bool:
        """Tell whether the last half of a run's frames comes fast enough, and whether all are what they should be."""
        frames, cycles = run.settled
        return cycles <= frames * self._interval and _same_values(run, self._reference)

    def _simulate(self, depths: dict[str, int]) -> bool:
        try:
            run = self._runner.run(self._frames, depths, limit=self._limit)
        except SimulationError:
            # Stalled permanently, too slow by far, or an error that larger FIFOs do not let happen.
            return False
        return self.is_kept_by(run)


def _same_values(run: Run, reference: Run) -> bool:
    """Tell whether two runs gave the same, as far as both went."""
    pairs = [
        (traffic.words, reference.result.streams[name].words)
        for name, traffic in run.result.streams.items()
        if traffic.is_output
    ]
    return all((found[: len(known)] == known[: len(found)]).all() for found, known in pairs)


def shrink(
    depths: dict[str, int], bits: dict[str, int], keeps: Judge, order: Sequence[str] | None = None
) -> Shrunk:
    """Make FIFOs smaller, one after the other, as long as the rate is kept.

    Each FIFO's least depth is searched by halving while the others stay. The rate need not grow with the depth for
    that: what is taken was simulated, and so was the next smaller one, which loses the rate. This is repeated until no
    FIFO can be the next smaller one.

    Args:
        depths: They keep the rate; by the names of links.
        bits: Of a beat, by the names of links.
        keeps: Whether depths keep the rate.
        order: Of the links; those with the most bits first by default.

    Returns:
        The depths, each the greatest that gives the same hardware.
    """
    found = {name: depth_of(depth, bits[name]) for name, depth in depths.items()}
    chosen = order or sorted(found, key=lambda name: -bits[name] * held(found[name], bits[name]))
    changed, turn = True, 0
    try:
        while changed:
            changed, turn = False, turn + 1
            with Task(f"making FIFOs smaller, turn {turn}", len(chosen), "FIFOs") as task:
                for name in chosen:
                    before = found[name]
                    _shrink_one(found, name, bits[name], keeps)
                    changed |= found[name] != before
                    task.add()
    except BudgetSpentError:
        return Shrunk(found, minimal=False)
    return Shrunk(found, minimal=True)


def _shrink_one(found: dict[str, int], name: str, bits: int, keeps: Judge) -> None:
    """Lower one depth to the least that keeps the rate, as far as halving finds it."""
    smaller = next_smaller(found[name], bits)
    if not smaller or not keeps(found | {name: smaller}):
        return
    found[name] = smaller
    low, high = 0, held(smaller, bits)  # in beats: too few, and enough
    while next_smaller(found[name], bits) and low < held(next_smaller(found[name], bits), bits):
        middle = depth_of((low + high) // 2 if low else 1, bits)
        if middle == found[name]:
            middle = next_smaller(middle, bits)
        if keeps(found | {name: middle}):
            found[name], high = middle, held(middle, bits)
        else:
            low = held(middle, bits)
