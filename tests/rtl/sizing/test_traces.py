"""Traces go on without end, and say how full a FIFO becomes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.sizing.layer_timing import repeated
from brainsmith.rtl.sizing.traces import Trace, most_waiting


@st.composite
def streams(draw):
    """Draw cycles of beats that repeat, how many do, from which one on, and how many are a frame."""
    beats, frames = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    interval = draw(st.integers(beats, 9))
    before = sorted(draw(st.sets(st.integers(0, 30), max_size=7)))
    places = st.sets(st.integers(0, interval * frames - 1), min_size=beats * frames, max_size=beats * frames)
    turn = sorted(draw(places))
    begin = (before[-1] if before else 0) + 1
    times = [*before, *(begin + at for at in turn)]
    endless = times + [at + interval * frames * more for more in range(1, 61) for at in times[len(before) :]]
    return np.array(times), len(before), beats, frames, interval, np.array(endless)


@given(streams(), st.integers(0, 20), st.integers(0, 60))
def test_a_trace_goes_on_as_its_last_frames(stream, first, end):
    *known, endless = stream
    expected = endless[first:]
    assert repeated(*known).between(first, end).tolist() == expected[expected < end].tolist()


def test_frames_that_are_alike_are_kept_once():
    trace = Trace(np.array([[3, 5], [14, 15], [24, 25], [34, 35]]), 2, 10).shortest()
    assert (trace.frames.tolist(), trace.repeated, trace.settled) == ([[3, 5], [14, 15]], 1, 14)
    other = Trace(np.array([[3, 5], [14, 15], [24, 26]]), 2, 10)
    assert other.shortest() is other
    assert other.between(5, 47).tolist() == [26, 34, 35, 44, 46]


@given(st.integers(1, 9), st.integers(0, 30))
def test_steady_beats_move_as_stalls_let_them(beats, more):
    interval = beats + more
    stalls = Stalls.steady(beats, interval).bits or (False,) * interval
    passing = [cycle for cycle in range(3 * interval) if not stalls[cycle % interval]]
    assert Trace.steady(beats, interval).between(0, 3 * interval).tolist() == passing


@given(st.sets(st.integers(0, 30), min_size=1), st.lists(st.integers(1, 9), max_size=31))
def test_most_waiting_is_the_fill_of_a_fifo(arrivals, waits):
    arrived = np.array(sorted(arrivals))
    taken: list[int] = []
    for at, wait in zip(arrived, waits, strict=False):
        taken.append(max([at, *taken[-1:]]) + wait)
    fills = [sum(arrived <= cycle) - sum(at <= cycle for at in taken) for cycle in range(31)]
    assert most_waiting(arrived, np.array(taken, int)) == max(fills)
