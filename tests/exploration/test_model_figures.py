"""Figures by the models: which points share a front end, and where on its front each stands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.blueprint.space.space import load_space
from brainsmith.exploration.model_figures import FIGURES_BY_MODELS, front_ends_of

RESOURCES = ("lut", "ff", "bram18", "uram", "dsp")
SPACE = """\
explore: {objectives: {fps: max, lut: min}}
hw_compiler:
  target:
    part: {choice: [pynq-z2, kv260], name: board}
    clock: {choice: [5 ns, 10 ns], name: clock}
    fps: {choice: [1000, 50000, 100000], name: rate}
  steps: [cleanup, integer, hardware_inference, specialize, fold, {optional: estimate, name: counted}]
"""


def space_of(tmp_path, text=SPACE):
    (tmp_path / "space.yaml").write_text(text)
    return load_space(tmp_path / "space.yaml")


def front_with(intervals, clock=5.0):
    """Of each interval a circuit that takes a LUT for each of those that are slower."""
    return {
        "clock_ns": clock,
        "available": dict.fromkeys(RESOURCES, 100),
        "points": [
            {
                "interval_cycles": interval,
                "fps": 1e9 / (interval * clock),
                "cost": 1.0 - at / 100,
                "needs": dict.fromkeys(RESOURCES, len(intervals) - at),
            }
            for at, interval in enumerate(intervals)
        ],
    }


def test_points_share_a_front_end_that_differ_in_rates_and_in_what_comes_after_folding(tmp_path):
    space = space_of(tmp_path)
    front_ends = front_ends_of(space, space.points())
    assert [dict(one.point) for one in front_ends.each] == [
        {"board": board, "clock": clock, "rate": 0, "counted": 0} for board in (0, 1) for clock in (0, 1)
    ]
    assert [list(one.rows) for one in front_ends.each] == [list(range(6 * at, 6 * at + 6)) for at in range(4)]
    assert [space.dimensions[at].name for at in front_ends.rates] == ["rate"]


def test_a_choice_that_stands_in_two_places_counts_at_the_first_of_them(tmp_path):
    verify = "  verify: {inputs: {choice: [a.npy, b.npy], name: network}}\n"
    kernels = "  kernels: {MVAU: {choice: [rtl, hls], name: network}}\n"
    text = SPACE.replace("hw_compiler:\n", f"hw_compiler:\n{verify}{kernels}")
    space = space_of(tmp_path, text)
    network = next(each for each in space.dimensions if each.name == "network")
    assert network.places == (("verify", "inputs"), ("kernels", "MVAU"))
    assert len(front_ends_of(space, space.points()).each) == 8


def test_without_the_step_fold_there_is_none(tmp_path):
    space = space_of(tmp_path, SPACE.replace(" fold,", ""))
    assert front_ends_of(space, space.points()).each == ()


@given(
    st.lists(st.integers(1, 10**7), min_size=1, max_size=20, unique=True),
    st.lists(st.integers(1, 10**8), min_size=1, max_size=4, unique=True),
    st.sampled_from([5.0, 10.0, 3.5]),
)
def test_a_rate_has_the_cheapest_circuit_that_is_fast_enough_or_the_fastest(
    tmp_path_factory, intervals, rates, clock
):
    intervals, rates = sorted(intervals), sorted(rates)
    text = SPACE.replace("[1000, 50000, 100000]", str(rates)).replace("[5 ns, 10 ns]", f"[{clock:g} ns]")
    space = space_of(tmp_path_factory.mktemp("space"), text.replace("[pynq-z2, kv260]", "[pynq-z2]"))
    points = space.points()
    front_ends = front_ends_of(space, points)
    figures = front_ends.figures([front_with(intervals, clock)])
    assert set(figures) == set(FIGURES_BY_MODELS)
    for at, row in enumerate(points):
        rate = rates[space.point_of(row)["rate"]]
        enough = [one for one in intervals if one <= max(1, int(1e9 / (clock * rate)))]
        expected = max(enough, default=intervals[0])
        assert figures["interval_cycles"][at] == expected
        assert figures["lut"][at] == len(intervals) - intervals.index(expected)


@pytest.mark.parametrize(
    ("fit", "interval"),
    [
        ("{use: 5 %}", 40),  # 5, 4, 3, 2, 1 of 100 LUTs: all fit
        ("{use: 3 %}", 160),
        ("{use: 3 %, at_least: {fps: 1000000}}", 160),
        ("{use: 3 %, goal: resources, at_least: {fps: 1000000}}", 160),
        ("{use: 2 %, at_least: {fps: 1000000}}", None),
        ("{goal: latency}", 40),
    ],
)
def test_a_fit_has_the_best_circuit_of_the_front_that_fits(tmp_path, fit, interval):
    text = SPACE.replace(
        "fps: {choice: [1000, 50000, 100000], name: rate}", f"fit: {{choice: [{fit}], name: fit}}"
    )
    space = space_of(
        tmp_path, text.replace("[5 ns, 10 ns]", "[5 ns]").replace("[pynq-z2, kv260]", "[pynq-z2]")
    )
    front_ends = front_ends_of(space, space.points())
    (found, _) = front_ends.figures([front_with([40, 80, 160, 320, 640])])["interval_cycles"]
    assert found == interval or (interval is None and np.isnan(found))


def test_points_without_a_front_are_not_known(tmp_path):
    space = space_of(tmp_path)
    figures = front_ends_of(space, space.points()).figures([front_with([10]), None, None, None])
    assert np.isnan(figures["fps"]).sum() == 18
