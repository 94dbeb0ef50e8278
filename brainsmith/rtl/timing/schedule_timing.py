"""When a layer takes and gives beats that arrive by a schedule: computed of its own schedule, as vectors of beats."""

from __future__ import annotations

from math import ceil, lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from brainsmith.rtl.sizing.traces import THROUGH, SlowerError, Trace
from brainsmith.rtl.timing.beat_schedule import ALWAYS, BeatSchedule, Taking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brainsmith.rtl.sizing.traces import Cycles

FRAMES = 64
"""After which a layer repeats, at the latest; the last one is taken to repeat else."""


class Played:
    """A layer's schedule, frame after frame.

    Args:
        schedule: Of the layer.
        begin: The first cycle that can be a turn; the schedule's own by default.

    Attributes:
        taken: By input: the cycles in which the beats of each frame were taken, so far.
        given: By output: those in which they were given.
    """

    def __init__(self, schedule: BeatSchedule, begin: int | None = None) -> None:
        self._schedule = schedule
        self.taken: list[list[Cycles]] = [[] for _ in schedule.taken]
        self.given: list[list[Cycles]] = [[] for _ in schedule.given]
        self._first = schedule.begin if begin is None else begin
        self._before: _Turns | None = None
        self._last = [(0 if begin is None else begin) - 1 for _ in schedule.taken]
        self._places = [_Places(one) for one in schedule.taken]
        self._carried: list[tuple[Cycles, Cycles]] = []

    def frame(self, due: Sequence[Cycles]) -> int:
        """Play a frame.

        Args:
            due: By input: from which cycle on each beat can be taken.

        Returns:
            The first cycle of the next one.
        """
        schedule = self._schedule
        waits = [np.asarray(cycles, dtype=np.int64) for cycles in due]
        earliest = self._first if schedule.apart is not None else None
        taken = [self._offered(at, cycles, None, earliest) for at, cycles in enumerate(waits)]
        turns = self._turns(taken)
        while True:
            again = [self._offered(at, cycles, turns, earliest) for at, cycles in enumerate(waits)]
            if all((one == other).all() for one, other in zip(taken, again, strict=True)):
                break
            taken, turns = again, self._turns(again)
        for at, one in enumerate(schedule.taken):
            cycles = taken[at] if one.room is not None else turns.at(one.turns)
            self.taken[at].append(cycles)
            self._last[at] = int(cycles[-1])
        for at, giving in enumerate(schedule.given):
            self.given[at].append(turns.at(giving.turns) + giving.delay)
        end = int(turns.at(np.array([schedule.turns - 1]))[0]) + 1
        if schedule.apart is not None:
            end = max(end, *(last + 1 for last in self._last)) + schedule.apart
        self._carried = list(self._needed_later(taken))
        self._first, self._before = end, turns
        return end

    def _needed_later(self, taken: Sequence[Cycles]) -> Iterator[tuple[Cycles, Cycles]]:
        """Yield what turns of the next frame wait for, and by how much it is later than their numbers."""
        turns = self._schedule.turns
        for one, cycles in zip(self._schedule.taken, taken, strict=True):
            begin, end = np.searchsorted(one.turns, (turns, 2 * turns))
            if one.room is not None and begin < end:
                needed = one.turns[begin:end] - turns
                yield needed, np.maximum.accumulate(cycles[begin:end] + one.wait - needed)

    def _offered(self, at: int, due: Cycles, turns: _Turns | None, earliest: int | None) -> Cycles:
        """Return when the beats of an input are taken, if it is buffered; when they can be, if it is not."""
        one = self._schedule.taken[at]
        if one.room is None:
            return due
        least = np.maximum(due, self._last[at] + 1 if earliest is None else earliest)
        if turns is not None:
            least = np.maximum(least, self._freed(one, turns))
        return _one_a_cycle(least)

    def _freed(self, one: Taking, turns: _Turns) -> Cycles:
        """Return from when on there is room for each beat."""
        assert one.room is not None
        split = int(np.searchsorted(one.room, 0))
        here = turns.at(one.room[split:]) + one.freed
        earlier = one.room[:split]
        if self._before is None:
            return np.concatenate([np.full(split, ALWAYS), here])
        told = self._before.at(earlier + self._schedule.turns) + one.freed
        return np.concatenate([np.where(earlier == ALWAYS, ALWAYS, told), here])

    def _turns(self, taken: Sequence[Cycles]) -> _Turns:
        """Return when the turns are, given when the beats that they need are there."""
        parts = [*self._carried]
        for one, cycles, places in zip(self._schedule.taken, taken, self._places, strict=True):
            ready = cycles if one.room is None else cycles + one.wait
            parts.append((places.turns, places.late(ready)))
        return _Turns(parts, self._first)


class _Places:
    """The turns that wait for the beats of an input."""

    def __init__(self, taking: Taking) -> None:
        self._first = taking.first_beats()
        self.turns = (
            taking.turns if taking.opens is None else np.insert(taking.turns, self._first, taking.opens)
        )

    def late(self, ready: Cycles) -> Cycles:
        """Return by how many cycles each of these turns, and any one behind it, is later than its number."""
        whole = np.insert(ready, self._first, ready[self._first]) if len(self._first) else ready
        late: Cycles = np.maximum.accumulate(whole - self.turns)
        return late


class _Turns:
    """When the turns of a frame are: one a cycle, and each behind the beats that it needs."""

    def __init__(self, parts: Sequence[tuple[Cycles, Cycles]], first: int) -> None:
        self._parts = parts
        self._first = first

    def at(self, turns: Cycles) -> Cycles:
        """Return the cycles of some turns."""
        late = np.full(len(turns), self._first, np.int64)
        for needed, delays in self._parts:
            if len(needed) == len(turns) and needed is turns:
                found = delays  # the turns themselves; of several beats in one turn, the last counts
                if len(needed) > 1 and not (needed[1:] > needed[:-1]).all():
                    found = delays[np.searchsorted(needed, turns, side="right") - 1]
            else:
                places = np.searchsorted(needed, turns, side="right") - 1
                found = np.where(places < 0, ALWAYS, delays[np.maximum(places, 0)])
            np.maximum(late, found, out=late)
        return turns + late


def _one_a_cycle(least: Cycles) -> Cycles:
    """Return the cycles of beats that move one a cycle, each at its least."""
    numbers = np.arange(len(least))
    return np.maximum.accumulate(least - numbers) + numbers


def first_frame(schedule: BeatSchedule, due: Sequence[Cycles]) -> list[Cycles]:
    """Return when a layer that is empty gives the beats of a frame, by output.

    Args:
        schedule: Of the layer.
        due: By input: from which cycle on each beat can be taken.
    """
    played = Played(schedule)
    played.frame(due)
    return [frames[0] for frames in played.given]


class Timed(NamedTuple):
    """What a layer does.

    Attributes:
        taken: By input: when it takes beats.
        given: By output: when it gives beats.
    """

    taken: list[Trace]
    given: list[Trace]


def time_schedule(schedule: BeatSchedule, arrivals: Sequence[Trace], interval: int) -> Timed:
    """Play a layer's schedule until it repeats, as `time_layer` simulates a circuit.

    Args:
        schedule: Of the layer.
        arrivals: By input: when beats go into the FIFO before it.
        interval: Cycles from one frame to the next.

    Raises:
        SlowerError: More and more beats would wait.
    """
    played, turn = Played(schedule), lcm(*(trace.repeated for trace in arrivals))
    _play(played, arrivals, interval)
    taken, given = (
        [Trace(np.stack(each), turn, interval).shortest() for each in those]
        for those in (played.taken, played.given)
    )
    return Timed(taken, given)


def _play(played: Played, arrivals: Sequence[Trace], interval: int) -> None:
    """Play frames until they repeat; return how many.

    Raises:
        SlowerError: They do not, and take longer than the interval.
    """
    known = max(len(trace.frames) - trace.repeated for trace in arrivals)
    turn = lcm(*(trace.repeated for trace in arrivals))
    ends: list[int] = []
    for frame in range(known + FRAMES * turn):
        ends.append(played.frame([_frame(trace, frame) + THROUGH for trace in arrivals]))
        if frame >= known + turn and _repeats(played, turn, interval):
            return
    longest = ceil((ends[-1] - ends[-1 - turn]) / turn)
    if longest > interval:
        raise SlowerError(longest)


def _frame(trace: Trace, number: int) -> Cycles:
    """Return the cycles of a frame of a trace."""
    turns = max(0, -(-(number - len(trace.frames) + 1) // trace.repeated))
    cycles: Cycles = trace.frames[number - turns * trace.repeated] + turns * trace.repeated * trace.interval
    return cycles


def _repeats(played: Played, turn: int, interval: int) -> bool:
    """Tell whether the last frames are those before them, later."""
    by = turn * interval
    return all(
        (frames[-1 - at] == frames[-1 - at - turn] + by).all()
        for frames in (*played.taken, *played.given)
        for at in range(turn)
    )
