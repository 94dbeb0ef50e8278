"""Small networks of schedules, and what they do, computed beat by beat from the definitions alone."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from brainsmith.rtl.sizing.traces import THROUGH
from brainsmith.rtl.stitching.design import DESIGN, End, Layout, Link
from brainsmith.rtl.timing.beat_schedule import (
    ALWAYS,
    BeatSchedule,
    Giving,
    Queue,
    Taking,
    converted,
    gathered,
    one_by_one,
    replayed,
    row_by_row,
)


def link(name, source, target, beats, bits=8):
    """Return a stream between two layers, which are called by their names."""
    return Link(name, End(source, name), End(target, name), bits, Layout(name, (beats,), 1, bits, False))


def windowed(beats, each, places):
    """Return the schedule of a buffer that gives each beat and the ones before it, in frames that do not overlap."""
    wanted = np.maximum(0, np.arange(beats)[:, None] - np.arange(each)[::-1]).reshape(-1)
    needed = np.searchsorted(np.maximum.accumulate(wanted), np.arange(beats))
    kept = np.searchsorted(np.repeat(np.arange(beats) + places, each), np.arange(beats), side="right") - 1
    room = np.where(kept < 0, ALWAYS, kept)
    return BeatSchedule(beats * each, (Taking(needed, room),), (Giving(np.arange(beats * each)),), apart=1)


def padded(beats, before, behind, *, parts, opens):
    """Return the schedule of padding before and behind the beats of each part of a frame."""
    each = before + beats // parts + behind
    starts = np.arange(parts) * each
    needed = (starts[:, None] + before + np.arange(beats // parts)).reshape(-1)
    taking = Taking(needed, opens=starts if opens else None)
    return BeatSchedule(parts * each, (taking,), (Giving(np.arange(parts * each)),))


@st.composite
def layers_for(draw, beats):
    """Draw a layer that takes some beats a frame."""
    each = draw(st.sampled_from([one for one in range(1, beats + 1) if beats % one == 0]))
    delay = draw(st.integers(0, 4))
    kind = draw(
        st.sampled_from(["same", "sums", "products", "stored", "wider", "narrower", "window", "pad", "rows"])
    )
    if kind == "sums":
        return replace(gathered(beats, beats // each, delay), begin=draw(st.integers(0, 9)))
    if kind in ("products", "stored"):
        places = 2 * each if kind == "stored" else 1 << max(1, (each - 1).bit_length())
        folds = draw(st.integers(1, 3))
        whole = kind == "stored"
        return replayed(beats // each, each, folds, places, wait=1 + (not whole), delay=delay, whole=whole)
    if kind == "wider":
        return converted(beats, beats // each, delay)
    if kind == "narrower":
        return converted(beats, 3 * beats, delay)
    if kind == "window":
        return windowed(beats, draw(st.integers(1, 3)), draw(st.integers(3, 5)))
    if kind == "rows":
        return row_by_row(beats, each, delay)
    if kind == "pad":
        around = [draw(st.integers(0, 3)) for _ in range(2)]
        return padded(beats, *around, parts=beats // each, opens=draw(st.booleans()))
    queue = draw(st.sampled_from([None, Queue(delay + 1, freed=1), Queue(1, freed=2, later=delay + 1)]))
    return BeatSchedule(beats, (Taking(np.arange(beats)),), (Giving(np.arange(beats), delay, queue),))


@dataclass(frozen=True)
class Network:
    """Layers by name, and the links between them."""

    links: list
    schedules: dict

    @property
    def interval(self):
        """Return the cycles of the slowest layer, of those that are busy all the time."""
        return max(schedule.turns + 2 * (schedule.apart is not None) for schedule in self.schedules.values())


@st.composite
def networks(draw, branches=True, most=40):
    """Draw a chain of layers of so many beats at most, and around one of them perhaps a branch that joins it again."""
    beats, source, links, schedules = draw(st.integers(1, 6)), DESIGN, [], {}
    for at in range(draw(st.integers(1, 4))):
        layer = draw(layers_for(beats))
        if beats > most:
            break
        links.append(link(f"to{at}", source, f"layer{at}", beats))
        schedules[f"layer{at}"] = layer
        source, beats = f"layer{at}", len(layer.given[0].turns)
    if branches and draw(st.booleans()):
        schedules |= {"fork": one_by_one(beats, outputs=2, delay=0), "join": one_by_one(beats, inputs=2)}
        schedules["around"] = windowed(beats, 1, 3) if draw(st.booleans()) else one_by_one(beats, delay=5)
        links += [
            link("to_fork", source, "fork", beats),
            link("around", "fork", "around", beats),
            link("direct", "fork", "join", beats, 16),
            link("from_around", "around", "join", beats),
        ]
        # `join` takes its inputs in the order of the links.
        source = "join"
    links.append(link("out", source, DESIGN, beats))
    return Network(links, schedules)


def moved(network, frames, arrivals, places=None):
    """Return when the beats of some frames go into each link and leave it, as (put, left) by name.

    Each moves as soon as all that it waits for has happened.

    Args:
        network: The layers.
        frames: How many.
        arrivals: By the number of a beat of the input, and the beats of a frame: the cycle in which it is offered.
        places: How many beats each FIFO holds, by name; without bounds by default.

    Raises:
        RecursionError: A beat waits for itself.
    """
    moves = Moves(network, arrivals, places or {})
    with recursing():
        return tuple(
            {
                one.name: [when(one.name, number) for number in range(frames * one.beats)]
                for one in network.links
            }
            for when in (moves.put, moves.left)
        )


@contextmanager
def recursing():
    """Let `Moves` go back from beat to beat as far as it must."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Moves:
    """When beats move, each cycle computed once, from those that it waits for."""

    def __init__(self, network, arrivals, places):
        self.network, self.arrivals, self.places = network, arrivals, places
        self.links = {one.name: one for one in network.links}
        self.ins, self.outs = (
            {
                name: [one for one in network.links if getattr(one, end).layer == name]
                for name in network.schedules
            }
            for end in ("target", "source")
        )
        self.known = {}
        self.inputs = {
            (name, turn): [
                each
                for one, taking in zip(self.ins[name], schedule.taken, strict=True)
                for each in inputs_of(one, taking, turn)
            ]
            for name, schedule in network.schedules.items()
            for turn in range(schedule.turns)
        }
        self.stalls = {}
        for name, schedule in network.schedules.items():
            for one, giving in zip(self.outs[name], schedule.given, strict=True):
                for turn, stall in stalls_of(one, giving, schedule.turns):
                    self.stalls.setdefault((name, turn), []).append(stall)

    def once(self, key, waits):
        """Return the last of some cycles, which are computed when this is asked for the first time."""
        found = self.known.get(key)
        if found is None:
            if key in self.known:
                raise RecursionError
            self.known[key] = None
            found = self.known[key] = max(waits())
        return found

    def put(self, name, number):
        """Return when a beat goes into a FIFO."""
        return self.once(("put", name, number), lambda: self.put_after(self.links[name], number))

    def left(self, name, number):
        """Return when it leaves it."""
        return self.once(("left", name, number), lambda: self.left_after(self.links[name], number))

    def turn(self, name, at):
        """Return when a turn is, of all frames."""
        return self.once(("turn", name, at), lambda: self.turn_after(name, at))

    def place_after(self, one, number):
        yield self.put(one.name, number - 1) + 1 if number else 0
        if number >= self.places.get(one.name, number + 1):
            yield self.left(one.name, number - self.places[one.name]) + 1

    def put_after(self, one, number):
        yield from self.place_after(one, number)
        if one.source.layer == DESIGN:
            yield self.arrivals(number, one.beats)
            return
        schedule = self.network.schedules[one.source.layer]
        giving = schedule.given[self.outs[one.source.layer].index(one)]
        frame, beat = divmod(number, one.beats)
        turn = frame * schedule.turns + min(int(giving.turns[beat]), schedule.turns - 1)
        yield self.turn(one.source.layer, turn) + delays(giving, schedule.turns)[beat]

    def left_after(self, one, number):
        if one.target.layer == DESIGN:
            yield self.put(one.name, number) + THROUGH
            return
        name = one.target.layer
        schedule = self.network.schedules[name]
        taking = schedule.taken[self.ins[name].index(one)]
        frame, beat = divmod(number, one.beats)
        begin = frame * schedule.turns
        if taking.room is None:
            yield self.turn(name, begin + int(taking.turns[beat]))
            return
        yield self.put(one.name, number) + THROUGH
        yield self.left(one.name, number - 1) + 1 if number else 0
        room = begin + int(taking.room[beat])
        yield self.turn(name, room) + taking.freed if room >= 0 else 0
        if schedule.apart is not None and beat == 0 and frame:
            last = self.turn(name, begin - 1), self.left(one.name, number - 1)
            yield max(last) + 1 + schedule.apart

    def turn_after(self, name, at):
        schedule = self.network.schedules[name]
        frame, turn = divmod(at, schedule.turns)
        yield self.turn(name, at - 1) + 1 if at else schedule.begin
        if schedule.apart is not None and turn == 0 and frame:
            last = [self.left(one.name, frame * one.beats - 1) for one in self.ins[name]]
            yield max(*last, self.turn(name, at - 1)) + 1 + schedule.apart
        for when, one, beat, later in self.inputs[name, turn]:
            yield getattr(self, when)(one.name, frame * one.beats + beat) + later
        for frames, one, beat, freed in self.stalls.get((name, turn), ()):
            number = (frame - frames) * one.beats + beat
            if number >= 0 and freed is None:
                yield max(self.place_after(one, number))
            elif number >= 0:
                yield self.put(one.name, number) + freed


def inputs_of(one, taking, turn):
    """Yield what a turn waits for of an input: whether it is put or left, its link, beat, and how much later."""
    for number, opened in zip(
        taking.first_beats(), () if taking.opens is None else taking.opens, strict=True
    ):
        if opened == turn:
            yield "put", one, int(number), THROUGH
    for beat in np.flatnonzero(taking.turns == turn):
        yield (
            ("put", one, int(beat), THROUGH) if taking.room is None else ("left", one, int(beat), taking.wait)
        )


def stalls_of(one, giving, count):
    """Yield each turn that waits until a beat was given, and by how many frames it is later, link, beat, cycles after it.

    No cycles are stated of a beat that is given in its turn: it waits for the same as the beat.
    """
    queue = giving.queue or Queue(0)
    for beat, delay in enumerate(delays(giving, count)):
        later = delay if giving.queue is None else queue.later
        frames, turn = divmod(min(int(giving.turns[beat]), count - 1) + later, count)
        yield turn, (frames, one, beat - queue.beats, queue.freed if later + queue.beats else None)


def delays(giving, count):
    """Return the cycles from a turn of the frame to each beat."""
    found = np.broadcast_to(giving.delay, len(giving.turns))
    return (found + np.maximum(0, giving.turns - count + 1)).tolist()
