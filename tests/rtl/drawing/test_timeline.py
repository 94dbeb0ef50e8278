"""Time along x: nothing is lost when cycles share a pixel, and ticks are round."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.drawing.timeline import Timeline


@st.composite
def runs(draw):
    """Runs that do not touch, as handshakes have them."""
    edges = sorted(draw(st.sets(st.integers(0, 400), max_size=40)))
    return [list(pair) for pair in zip(edges[::2], edges[1::2], strict=False)]


@given(runs(), st.integers(0, 300), st.integers(1, 200), st.integers(1, 150))
def test_every_cycle_counts_once(found, begin, cycles, width):
    time = Timeline(begin, begin + cycles, width)
    shares = time.shares(found)
    assert len(shares) == time.bins <= width or time.bin == 1
    assert all(0 <= share <= 1 for share in shares)
    sizes = [time.bin] * (time.bins - 1) + [cycles - (time.bins - 1) * time.bin]
    inside = sum(max(0, min(b, begin + cycles) - max(a, begin)) for a, b in found)
    assert sum(share * size for share, size in zip(shares, sizes, strict=True)) == pytest.approx(inside)


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_ticks_are_round_few_and_inside(begin, cycles):
    ticks = Timeline(begin, begin + cycles, 1080).ticks()
    assert all(begin <= tick < begin + cycles for tick in ticks)
    assert len(ticks) <= 12
    steps = {b - a for a, b in pairwise(ticks)}
    assert all(str(step).rstrip("0") in {"1", "2", "5"} for step in steps)


def test_cycles_have_their_pixels():
    time = Timeline(100, 200, 1000)
    assert (time.bin, time.bins) == (1, 100)
    assert [time.at(cycle) for cycle in (100, 101, 200)] == [0.0, 10.0, 1000.0]
    assert [time.shows(cycle) for cycle in (99, 100, 199, 200)] == [False, True, True, False]


def test_an_area_of_steps():
    time = Timeline(0, 4, 40)
    assert time.steps([0.0, 1.0, 0.5, 0.0], 38, 20) == "M10 38V18H20V28H30V38Z"
    assert time.steps([0.001, 0.0, 0.0, 1.0], 38, 20) == "M0 38V36H10V38ZM30 38V18H40V38Z"
    assert time.steps([0.0] * 4, 38, 20) == ""


def test_the_last_bin_ends_with_the_window():
    time = Timeline(0, 25, 10)
    assert (time.bin, time.bins) == (3, 9)
    assert time.shares([[24, 25]])[-1] == 1.0
    assert re.findall(r"H([\d.]+)", time.steps(time.shares([[21, 25]]), 38, 20)) == ["10"]
