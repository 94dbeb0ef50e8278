"""The turns of a layer in a steady stream of frames, as bounds between those that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.timing.beat_schedule import ALWAYS, Queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.sizing.traces import Cycles
    from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

_TIMES = 100
"""After which a layer is left, and looked at again later: it may be slower than the stream."""


class Bounds:
    """A layer's schedule as bounds. All cycles are those of frame 0; other frames are so many intervals apart.

    Args:
        schedule: Of the layer.
        interval: Cycles from one frame to the next.

    Attributes:
        first: The turns that matter, in their order, before anything bounds them.
    """

    def __init__(self, schedule: BeatSchedule, interval: int) -> None:
        self._interval = interval
        self._apart = schedule.apart
        self._count = schedule.turns
        matters = np.zeros(schedule.turns, bool)
        matters[[0, -1]] = True
        for taking in schedule.taken:
            for each in (taking.turns, taking.room, taking.opens):
                if each is not None:
                    matters[each % schedule.turns] = True
        for giving in schedule.given:
            for each in (np.minimum(giving.turns, schedule.turns - 1), _waits(giving, schedule.turns)):
                matters[each % schedule.turns] = True
        self._numbers = np.flatnonzero(matters)
        places = np.cumsum(matters) - 1
        self._inputs = [_Input(one, schedule.turns, places) for one in schedule.taken]
        self._outputs = [_Output(one, schedule.turns, places) for one in schedule.given]
        self.first: Cycles = np.full(len(self._numbers), ALWAYS)

    def meet(
        self,
        turns: Cycles,
        left: Sequence[Cycles],
        put: Sequence[Cycles],
        *,
        arrived: Sequence[Cycles],
        free: Sequence[Cycles],
    ) -> tuple[Cycles, Sequence[Cycles], Sequence[Cycles], bool]:
        """Return turns and beats that are as late as they must be, and no earlier than before.

        Args:
            turns: Those that matter, like `first`.
            left: By input: when beats are taken.
            put: By output: when beats are given.
            arrived: By input: from when on beats can be taken.
            free: By output: from when on there is a place for each.

        Returns:
            `turns`, `left` and `put`, and whether they meet all bounds.
        """
        for _ in range(_TIMES):
            turns = self._turns(turns, left, put, arrived)
            taken = [self._taken(*each, turns) for each in zip(self._inputs, left, arrived, strict=True)]
            given = [
                one_a_cycle(np.maximum(np.maximum(old, one.given(turns)), places), self._interval)
                for one, old, places in zip(self._outputs, put, free, strict=True)
            ]
            settled = all(map(np.array_equal, [*taken, *given], [*left, *put]))
            left, put = taken, given
            if settled:
                return turns, left, put, True
        return turns, left, put, False

    def _turns(
        self, before: Cycles, left: Sequence[Cycles], put: Sequence[Cycles], arrived: Sequence[Cycles]
    ) -> Cycles:
        """Return the turns: each after what it waits for, and after the turn before it."""
        least = before.copy()
        for one, taken, there in zip(self._inputs, left, arrived, strict=True):
            one.bound(least, there if one.room is None else taken + one.wait, self._interval)
        for each, given in zip(self._outputs, put, strict=True):
            each.bound(least, given, self._interval)
        if self._apart is not None:
            last = max(int(taken[-1]) for taken in left)
            least[0] = max(int(least[0]), last + 1 + self._apart - self._interval)
        late = np.maximum.accumulate(least - self._numbers)
        frame_before = int(late[-1]) + self._count + (self._apart or 0) - self._interval
        found: Cycles = np.maximum(late, frame_before) + self._numbers
        return found

    def _taken(self, one: _Input, left: Cycles, arrived: Cycles, turns: Cycles) -> Cycles:
        """Return when the beats of an input are taken."""
        if one.room is None:
            in_step: Cycles = turns[one.needed]
            return in_step
        least = np.maximum(np.maximum(left, arrived), one.room(turns, self._interval))
        if self._apart is not None:
            last = max(int(turns[-1]), int(left[-1]))
            least[0] = max(int(least[0]), last + 1 + self._apart - self._interval)
        return one_a_cycle(least, self._interval)


class _Input:
    """When the beats of an input are taken, and which turns wait for them."""

    def __init__(self, one: Taking, count: int, places: Cycles) -> None:
        self.wait = one.wait
        self.needed = places[one.turns % count]
        self._frames = one.turns // count
        self._single = _are_single(self.needed)
        self._first = one.first_beats()
        opens = np.array([], np.int64) if one.opens is None else one.opens
        self._opens = places[opens]
        self.room = None if one.room is None else _Room(one.room, one.freed, count, places)

    def bound(self, least: Cycles, ready: Cycles, interval: int) -> None:
        """Let turns wait for beats that are ready."""
        _raise(least, self.needed, ready - self._frames * interval, self._single)
        if len(self._first):
            _raise(least, self._opens, ready[self._first], single=False)


class _Room:
    """After which turns there is room for the beats of an input."""

    def __init__(self, room: Cycles, freed: int, count: int, places: Cycles) -> None:
        self._always = room == ALWAYS
        self._at = places[room % count]
        self._frames = room // count
        self._freed = freed

    def __call__(self, turns: Cycles, interval: int) -> Cycles:
        """Return from when on there is room for each beat."""
        found: Cycles = np.where(
            self._always, ALWAYS, turns[self._at] + self._freed + self._frames * interval
        )
        return found


class _Output:
    """When the beats of an output are given, and which turns wait until they are."""

    def __init__(self, one: Giving, count: int, places: Cycles) -> None:
        self._turn = places[np.minimum(one.turns, count - 1)]
        self._delay = _delay(one, count)
        self._queue = one.queue or Queue(0)
        waits = _waits(one, count)
        self._waits = places[waits % count]
        self._frames = waits // count
        self._single = _are_single(self._waits)

    def given(self, turns: Cycles) -> Cycles:
        """Return from when on beats can be given."""
        found: Cycles = turns[self._turn] + self._delay
        return found

    def bound(self, least: Cycles, put: Cycles, interval: int) -> None:
        """Let turns wait until beats were given."""
        ready = before_it(put, self._queue.beats, interval) + self._queue.freed
        _raise(least, self._waits, ready - self._frames * interval, self._single)


def _delay(one: Giving, count: int) -> Cycles:
    """Return the cycles from a turn of the frame to each beat."""
    delay: Cycles = np.asarray(one.delay) + np.maximum(0, one.turns - count + 1)
    return delay


def _waits(one: Giving, count: int) -> Cycles:
    """Return which turn, of this frame or a later one, waits until each beat, or one before it, was given."""
    turns: Cycles = np.minimum(one.turns, count - 1)
    return turns + (_delay(one, count) if one.queue is None else one.queue.later)


def _are_single(places: Cycles) -> bool:
    """Tell whether none is named twice."""
    return not len(places) or int(np.bincount(places).max()) == 1


def _raise(values: Cycles, at: Cycles, least: Cycles, single: bool) -> None:
    """Let values be at least others, in place."""
    if single:
        values[at] = np.maximum(values[at], least)
    else:
        np.maximum.at(values, at, least)


def before_it(cycles: Cycles, beats: int, interval: int) -> Cycles:
    """Return for each beat of a steady stream the cycle of the one so many beats before it.

    Args:
        cycles: Of the beats of frame 0.
        beats: How many.
        interval: Cycles from one frame to the next.
    """
    frames, first = divmod(-beats, len(cycles))
    found: Cycles = np.concatenate([cycles[first:], cycles[:first] + interval]) + frames * interval
    return found


def one_a_cycle(least: Cycles, interval: int) -> Cycles:
    """Return the cycles of beats that move one a cycle, each at its least, frame after frame.

    Args:
        least: Of the beats of frame 0.
        interval: Cycles from one frame to the next.
    """
    numbers = np.arange(len(least))
    late = np.maximum.accumulate(least - numbers)
    found: Cycles = np.maximum(late, int(late[-1]) + len(least) - interval) + numbers
    return found
