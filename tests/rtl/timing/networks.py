"""Small networks of schedules, and what they do, computed beat by beat from the definitions alone."""

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
def networks(draw, branches=True):
    """Draw a chain of layers, and around one of them perhaps a branch that joins it again."""
    beats, source, links, schedules = draw(st.integers(1, 6)), DESIGN, [], {}
    for at in range(draw(st.integers(1, 4))):
        layer = draw(layers_for(beats))
        if beats > 40:
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

    All is as late as what it waits for, found by going over all of it again until nothing changes.

    Args:
        network: The layers.
        frames: How many.
        arrivals: By the number of a beat of the input, and the beats of a frame: the cycle in which it is offered.
        places: How many beats each FIFO holds, by name; without bounds by default.
    """
    put = {one.name: [0] * (frames * one.beats) for one in network.links}
    left = {one.name: [0] * (frames * one.beats) for one in network.links}
    turns = {name: [0] * (frames * one.turns) for name, one in network.schedules.items()}
    for _ in range(3000):
        before = repr((put, left, turns))
        for one in network.links:
            _move_ends(one, put[one.name], left[one.name], arrivals, places)
        for name, schedule in network.schedules.items():
            ins = [one for one in network.links if one.target.layer == name]
            outs = [one for one in network.links if one.source.layer == name]
            _move(schedule, turns[name], ins, outs, put, left, places)
        if repr((put, left, turns)) == before:
            return put, left
    raise AssertionError("it stands still")


def _move_ends(one, put, left, arrivals, places):
    for beat in range(len(put)):
        if one.source.layer == DESIGN:
            put[beat] = max(put[beat], arrivals(beat, one.beats), put[beat - 1] + 1 if beat else 0)
            put[beat] = max(put[beat], _freed(one, left, beat, places))
        if one.target.layer == DESIGN:
            left[beat] = max(left[beat], put[beat] + THROUGH)


def _freed(one, left, beat, places):
    return left[beat - places[one.name]] + 1 if places and beat >= places[one.name] else 0


def _move(schedule, turns, ins, outs, put, left, places):
    stalls = [
        _stalls(one, giving, schedule.turns, put[one.name])
        for one, giving in zip(outs, schedule.given, strict=True)
    ]
    for at in range(len(turns)):
        frame, turn = divmod(at, schedule.turns)
        waits = [turns[at], turns[at - 1] + 1 if at else schedule.begin]
        if schedule.apart is not None and turn == 0 and frame:
            last = [left[one.name][frame * one.beats - 1] for one in ins]
            waits += [cycle + 1 + schedule.apart for cycle in (*last, turns[at - 1])]
        for one, taking in zip(ins, schedule.taken, strict=True):
            waits += _inputs_of(one, taking, frame, turn, put, left)
        turns[at] = max(*waits, *(each.get(at, 0) for each in stalls))
    for one, taking in zip(ins, schedule.taken, strict=True):
        _take(schedule, one, taking, turns, put[one.name], left[one.name])
    for one, giving in zip(outs, schedule.given, strict=True):
        for number in range(len(put[one.name])):
            frame, beat = divmod(number, one.beats)
            turn = frame * schedule.turns + min(int(giving.turns[beat]), schedule.turns - 1)
            waits = [put[one.name][number], turns[turn] + _delays(giving, schedule.turns)[beat]]
            waits.append(put[one.name][number - 1] + 1 if number else 0)
            put[one.name][number] = max(*waits, _freed(one, left[one.name], number, places))


def _inputs_of(one, taking, frame, turn, put, left):
    """Yield from when on a turn has what it takes of an input."""
    first = frame * one.beats
    for number, opened in zip(
        taking.first_beats(), () if taking.opens is None else taking.opens, strict=True
    ):
        if opened == turn:
            yield put[one.name][first + number] + THROUGH
    for beat in np.flatnonzero(taking.turns == turn):
        number = first + int(beat)
        if taking.room is None:
            yield put[one.name][number] + THROUGH
        else:
            yield left[one.name][number] + taking.wait


def _stalls(one, giving, count, put):
    """Return which turns, of all frames, wait for beats that are given at an output, and until when."""
    found = {}
    queue = giving.queue or Queue(0)
    for number in range(queue.beats, len(put)):
        frame, beat = divmod(number, one.beats)
        later = _delays(giving, count)[beat] if giving.queue is None else queue.later
        turn = frame * count + min(int(giving.turns[beat]), count - 1) + later
        found[turn] = max(found.get(turn, 0), put[number - queue.beats] + queue.freed)
    return found


def _delays(giving, count):
    """Return the cycles from a turn of the frame to each beat."""
    delays = np.broadcast_to(giving.delay, len(giving.turns))
    return (delays + np.maximum(0, giving.turns - count + 1)).tolist()


def _take(schedule, one, taking, turns, put, left):
    """Let the beats of an input be taken as late as they must."""
    for number in range(len(left)):
        frame, beat = divmod(number, one.beats)
        begin = frame * schedule.turns
        if taking.room is None:
            left[number] = turns[begin + int(taking.turns[beat])]
            continue
        room = begin + int(taking.room[beat])
        waits = [left[number], put[number] + THROUGH, left[number - 1] + 1 if number else 0]
        waits.append(turns[room] + taking.freed if room >= 0 else 0)
        if schedule.apart is not None and beat == 0 and frame:
            waits.append(max(turns[begin - 1], left[number - 1]) + 1 + schedule.apart)
        left[number] = max(waits)
