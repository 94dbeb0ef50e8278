"""When a layer takes and gives the beats of a frame: as its circuit does when nothing stalls its outputs.

While one is stalled, `Giving.queue` says how far the layer goes on. That is exact, or an estimate: of layers with a long
pipeline, in which beats that are apart stand still apart, and of those that store rows or copy streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

ALWAYS = -(1 << 40)
"""The turn that makes room for a beat for which there is room from the beginning."""


@dataclass(frozen=True)
class Taking:
    """The beats of one input.

    A beat that is taken in step is taken in its turn. One that is buffered is taken as soon as there is room, and its turn
    comes some cycles later or when the turns before it are done.

    Attributes:
        turns: (beats,), ascending: the turn that needs each beat.
        room: (beats,), ascending: a buffered beat is taken after this turn, which is negative for one of the frame before
            (-1 is its last); None if beats are taken in step.
        freed: Cycles from that turn until a beat may be taken in its place.
        wait: Cycles from taking a buffered beat to its turn, at least.
        opens: (parts,), ascending: the first turn of each part of the frame, where that waits for the part's first beat,
            which may be taken in a later one; parts have as many beats. None if no turn does.
        sooner: Whether the circuit may take a buffered beat before that, so that fewer wait in front of the layer.
    """

    turns: Numbers
    room: Numbers | None = None
    freed: int = 1
    wait: int = 1
    opens: Numbers | None = None
    sooner: bool = False

    def first_beats(self) -> Numbers:
        """Return the number of the first beat of each part that `opens` names."""
        parts = 0 if self.opens is None else len(self.opens)
        return np.arange(parts) * (len(self.turns) // max(parts, 1))


@dataclass(frozen=True)
class Queue:
    """How far a layer goes on while its output is stalled: a turn waits until a beat before its own was given.

    Attributes:
        beats: How many beats before its own: so many wait inside of the layer.
        freed: Cycles from giving that beat to the turn.
        later: By how many turns the one that waits is behind the one of which the beat is the result.
    """

    beats: int
    freed: int = 0
    later: int = 0


@dataclass(frozen=True)
class Giving:
    """The beats of one output.

    Attributes:
        turns: (beats,), ascending: the turn of which each is the result; beyond the last turn, one cycle later for each.
        delay: Cycles from the turn to the beat: one number, or (beats,) where several beats are the result of a turn
            and are given one after the other, while later turns go on.
        queue: Where beats wait while the output is stalled; None if all that is under way stands still with it, so that
            what is a beat's delay behind its turn waits until it was given.
    """

    turns: Numbers
    delay: int | Numbers = 1
    queue: Queue | None = None


@dataclass(frozen=True)
class BeatSchedule:
    """One frame of a layer as turns, of which each takes at least a cycle, one after the other.

    For example, a sum of each two beats, given a cycle later, for a frame of 6: `BeatSchedule(6, (Taking(np.arange(6)),),
    (Giving(np.arange(1, 6, 2)),))`.

    Attributes:
        turns: How many a frame has.
        taken: By input, of those that are streams.
        given: By output.
        apart: Cycles from the end of a frame, when it has its last turn and took its last beat, to the first turn or beat
            of the next; None if a frame may begin before.
        begin: The first cycle after the reset that can be a turn.
        stated: Whether it is the circuit's; else it is the slowest that such a layer may be.
    """

    turns: int
    taken: tuple[Taking, ...]
    given: tuple[Giving, ...]
    apart: int | None = None
    begin: int = 0
    stated: bool = True


def in_pages(beats: int, pages: int, turns: int) -> Taking:
    """Return how an input is taken whose beats are stored in pages, of which there is room for two.

    Args:
        beats: Of a frame.
        pages: Of a frame; a page is used when it is whole.
        turns: That use a page; after the last one there is room for another.
    """
    page = np.arange(beats) // (beats // pages)
    return Taking(page * turns, (page - 1) * turns - 1)


def one_by_one(beats: int, inputs: int = 1, outputs: int = 1, delay: int = 1) -> BeatSchedule:
    """Return the schedule of a layer that takes a beat of each input in each turn, and gives one at each output."""
    turns = np.arange(beats)
    return BeatSchedule(beats, (Taking(turns),) * inputs, (Giving(turns, delay),) * outputs)


def gathered(beats: int, results: int, delay: int) -> BeatSchedule:
    """Return the schedule of a layer that takes a beat in each turn, and gives a result of each so many beats."""
    each = beats // results
    return BeatSchedule(
        beats, (Taking(np.arange(beats)),), (Giving(np.arange(1, results + 1) * each - 1, delay),)
    )


def row_by_row(beats: int, each: int, delay: int) -> BeatSchedule:
    """Return the schedule of a layer that takes a beat in each turn, and gives a row's results some time after its last.

    Args:
        beats: Of a frame.
        each: Of a row.
        delay: Cycles from a row's last beat to its first result; the others follow, one a cycle.
    """
    numbers = np.arange(beats)
    return BeatSchedule(
        beats, (Taking(numbers),), (Giving(numbers // each * each + each - 1, delay + numbers % each),)
    )


def replayed(
    vectors: int, beats: int, folds: int, places: int, *, wait: int, delay: int, whole: bool
) -> BeatSchedule:
    """Return the schedule of a layer that reads each vector several times, and gives a result after each time.

    Args:
        vectors: In a frame.
        beats: Of a vector.
        folds: How often each is read; one is not stored.
        places: Beats that are stored at most.
        wait: Cycles from taking a beat to the first turn that may read it.
        delay: Cycles from the last turn of a fold to its result.
        whole: Whether only whole vectors are read, and room is made by whole vectors.
    """
    if folds == 1:
        return gathered(vectors * beats, vectors, delay)
    turns, taken = vectors * beats * folds, np.arange(vectors * beats)
    vector, beat = taken // beats, taken % beats
    needed: Numbers = vector * beats * folds + (0 if whole else beat)
    left = taken - places
    if whole:
        left = (vector - places // beats) * beats + beats - 1
    room: Numbers = left // beats * beats * folds + (folds - 1) * beats + left % beats
    given = np.arange(1, vectors * folds + 1) * beats - 1
    return BeatSchedule(turns, (Taking(needed, room, 1 if whole else 0, wait),), (Giving(given, delay),))


AT_ONCE = 16
"""Places of an output beat in what a converter holds: it is chosen in a cycle of its own among more of them."""


def converted(beats_in: int, beats_out: int, delay: int = 1) -> BeatSchedule:
    """Return the schedule of a converter from so many beats of a frame to another number of them.

    While its output is stalled, a beat of the narrower side waits in a register beside. Above `AT_ONCE` places, an output
    beat comes a cycle later.

    Args:
        beats_in: Of a frame.
        beats_out: Likewise.
        delay: Cycles from a turn to its output beat, if that is chosen at once.
    """
    unit = gcd(beats_in, beats_out)
    taken, given = beats_out // unit, beats_in // unit  # what a beat holds: the same frame in other parts
    staged = int(min(taken, given) > AT_ONCE)
    delay += staged
    ends = np.arange(1, beats_out + 1) * given
    if taken < given:
        wider = Giving(-(-ends // taken) - 1, delay, Queue(staged, freed=1, later=delay + 1 - staged))
        return BeatSchedule(beats_in, (Taking(np.arange(beats_in)),), (wider,))
    # An input beat is taken when the output beats that it does not end are given.
    starts: Numbers = np.arange(beats_in) * taken // given
    narrower = Giving(np.arange(beats_out), delay, Queue(delay + 1, freed=1))
    return BeatSchedule(beats_out, (Taking(starts),), (narrower,))


def one_after_the_other(taken: Sequence[int], given: Sequence[int], cycles: int) -> BeatSchedule:
    """Return the slowest schedule that a layer may have: it takes all of a frame, and then gives all of it.

    Args:
        taken: Beats of a frame, by input.
        given: Likewise, by output.
        cycles: From frame to frame: so many turns pass before the last beat is given.
    """
    turns = max(cycles, *taken, *given)
    return BeatSchedule(
        turns,
        tuple(Taking(np.arange(beats)) for beats in taken),
        tuple(Giving(turns - beats + np.arange(beats)) for beats in given),
        stated=False,
    )
