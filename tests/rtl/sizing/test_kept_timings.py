"""Timings of layers that are kept: the same ones, without a simulation."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.sizing import kept_timings
from brainsmith.rtl.sizing.kept_timings import _plain, _whole, kept_timing
from brainsmith.rtl.sizing.traces import LayerTiming, Trace


class Layer:
    """A simulator of which only the key counts here."""

    def __init__(self, key):
        self.key = key


@pytest.fixture
def simulated(monkeypatch, tmp_path):
    monkeypatch.setattr(kept_timings, "cache_dir", lambda: str(tmp_path))
    calls = []

    def time_layer(simulator, arrivals, given, interval):
        calls.append(simulator.key)
        return LayerTiming({"in0_V": 2}, {"out0_V": Trace(np.array([[3, 5]]), 1, interval)}, True, 40)

    monkeypatch.setattr(kept_timings, "time_layer", time_layer)
    return calls


def timed(key="a", arrivals=None, beats=2, interval=10):
    fed = Trace.steady(2, 10) if arrivals is None else arrivals
    return kept_timing("MVAU_rtl_0", Layer(key), {"in0_V": fed}, {"out0_V": beats}, interval)


def plain(timing):
    return pickle.dumps((timing.fills, timing.given["out0_V"].frames.tolist(), timing.repeats, timing.cycles))


def test_the_same_layer_with_the_same_arrivals_is_simulated_once(simulated):
    first = timed()
    assert plain(timed()) == plain(first)
    assert simulated == ["a"]


@pytest.mark.parametrize(
    "other",
    [
        {"key": "b"},
        {"arrivals": Trace.steady(2, 12)},
        {"arrivals": Trace(np.array([[0, 5], [10, 15]]), 2, 10)},
        {"beats": 3},
        {"interval": 11},
    ],
    ids=["another circuit", "other arrivals", "another repetition", "other beats", "another rate"],
)
def test_anything_else_is_simulated(simulated, other):
    timed()
    timed(**other)
    assert len(simulated) == 2


@given(
    steps=st.lists(st.integers(1, 2**40), min_size=1, max_size=12),
    repeats=st.booleans(),
    repeated=st.integers(1, 3),
)
def test_what_is_kept_comes_back_as_it_was(steps, repeats, repeated):
    frames = np.cumsum(np.array(steps * 3, np.int64)).reshape(3, -1)
    given = {"out0_V": Trace(frames, repeated, 77)}
    made = LayerTiming({"in0_V": 4, "in1_V": 0}, given, repeats, 123)
    found = _whole(_plain(made))
    trace = found.given["out0_V"]
    assert (found.fills, found.repeats, found.cycles) == (made.fills, repeats, 123)
    assert np.array_equal(trace.frames, frames)
    assert (trace.repeated, trace.interval, trace.frames.dtype) == (repeated, 77, np.int64)


def test_what_is_damaged_or_too_large_is_not_kept(monkeypatch):
    assert _whole("other") is None
    assert _whole(({}, {"out0_V": (((2, 2), b"no"), 1, 4)}, True, 5)) is None
    monkeypatch.setattr(kept_timings, "MOST_BYTES", 4)
    assert _plain(LayerTiming({}, {"out0_V": Trace.steady(9, 20)}, True, 5)) is None
