"""Sizing as a whole: gauges, search, and the check in the design that is shipped."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from brainsmith.rtl.simulation import simulator_build
from brainsmith.rtl.sizing import fifos, gauge_reading
from brainsmith.rtl.sizing.adjustable import usual_capacities
from brainsmith.rtl.sizing.fifo_hardware import held
from brainsmith.rtl.sizing.fifos import _searched, _unmeasured, _unsearched, size_fifos
from brainsmith.rtl.sizing.gauges import Gauge
from brainsmith.rtl.sizing.shrink import Budget
from brainsmith.rtl.sizing.sizing_runs import Run, Runner
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import random_frames
from brainsmith.rtl.verification.design_verification import build_verified


def sized(design, **arguments):
    return size_fifos(design, random_frames(design), **arguments)


@pytest.fixture(scope="module")
def searched(design, simulations):
    return sized(design)


@pytest.mark.slow
def test_every_stream_gets_a_fifo(searched, design):
    links = [link for link in design.links if not link.weights]
    report = searched.report()
    assert [(fifo["name"], fifo["bits"]) for fifo in report["fifos"]] == [
        (link.name, link.bits) for link in links
    ]
    depths = {link.name: link.depth for link in searched.design.links if not link.weights}
    assert {fifo["name"]: fifo["depth"] for fifo in report["fifos"]} == depths
    assert all(fifo["depth"] >= 5 for fifo in report["fifos"])
    assert searched.design == design.with_depths(depths)


@pytest.mark.slow
def test_the_report_says_what_was_done(searched, design):
    report = searched.report()
    first = report["fifos"][0]
    assert first == {
        "name": "s_axis_0", "from": "s_axis_0", "to": "FMPadding_rtl_0.in0_V", "bits": 8, "depth": 5, "gauge": 5,
        "total_bits": 40,
    }  # fmt: skip
    for fifo in report["fifos"]:
        assert fifo["total_bits"] == fifo["bits"] * held(fifo["depth"], fifo["bits"])
        assert fifo["depth"] <= fifo["gauge"]
    assert report["total_bits"] == sum(fifo["total_bits"] for fifo in report["fifos"])
    assert report["total_bits"] < report["gauge_bits"]
    assert report["interval"] == report["interval_estimate"] == design.interval
    assert report["minimal"] is True
    assert report["notes"] == []
    assert 5 < report["simulations"] < 100
    assert report["cycles"] > 5 * design.interval


@pytest.mark.slow
def test_the_design_that_is_shipped_is_the_one_that_was_searched(searched, design, simulations):
    """Every beat at both ends moves in the same cycle with FINN's FIFOs and with adjustable ones."""
    frames = random_frames(design)
    depths = {link.name: link.depth for link in searched.design.links if not link.weights}
    shipped = Runner(searched.design, frames).run(20)
    adjusted = Runner(design, frames, usual_capacities(design), quick=True).run(20, depths)
    assert adjusted.ends == shipped.ends
    for name, traffic in shipped.result.streams.items():
        assert traffic.moved_at.tolist() == adjusted.result.streams[name].moved_at.tolist()
        assert (traffic.words == adjusted.result.streams[name].words).all()


@pytest.mark.slow
def test_the_circuit_is_verified_in_the_simulation_that_sizing_has_built(
    searched, design, simulations, monkeypatch
):
    monkeypatch.setattr(simulator_build, "_build_model", None)
    simulator = build_verified(searched.design, random_frames(design))
    assert simulator.plan == plan_design(searched.design, probes=True)


@pytest.mark.slow
@pytest.mark.parametrize("search", [False, True])
def test_a_large_design_is_sized_layer_by_layer(searched, design, simulations, monkeypatch, search):
    """The depths are the same; a search then begins with them, in a simulation of the whole."""
    monkeypatch.setattr(gauge_reading, "_LONG", 0)
    done = sized(design, search=search)
    assert done.gauges == searched.gauges
    assert done.design == (searched.design if search else design.with_depths(searched.gauges))
    assert (done.interval, done.minimal, done.notes) == (design.interval, search, ())
    assert done.latency == searched.latency
    assert done.simulations > 20 if search else done.simulations == 8


def test_what_is_left_out_is_said_in_figures():
    gauge = Gauge({}, (), 1_152, 2_461)
    assert _unsearched(gauge, Budget(cycles=100_000)) == (
        "the FIFOs are as deep as the gauges say: a search needs 8 runs of 20,893 cycles at least, and may simulate "
        "100,000"
    )
    assert _unmeasured(gauge) == (
        "the interval of 1,152 cycles is that of the layers, each simulated alone: a run of the whole circuit, of 20,893 "
        "cycles, would take too long"
    )


@pytest.mark.slow
def test_what_would_take_too_long_is_left_out_and_noted(searched, design, simulations, monkeypatch):
    monkeypatch.setattr(gauge_reading, "_LONG", 0)
    monkeypatch.setattr(fifos, "_MEASURED", 0)
    done = sized(design, budget=Budget(cycles=100_000))
    assert done.design == design.with_depths(searched.gauges)
    assert (done.interval, done.minimal, done.cycles_per_second) == (design.interval, False, None)
    assert done.notes == (
        "the FIFOs are as deep as the gauges say: a search needs 8 runs of 20,893 cycles at least, and may simulate "
        "100,000",
        "the interval of 1,152 cycles is that of the layers, each simulated alone: a run of the whole circuit, of 20,893 "
        "cycles, would take too long",
    )


@pytest.mark.slow
def test_without_a_search_the_gauges_decide(searched, design, simulations):
    plain = sized(design, search=False)
    assert plain.gauges == searched.gauges
    assert plain.design == design.with_depths(searched.gauges)
    assert (plain.simulations, plain.minimal, plain.notes) == (2, False, ())
    assert plain.interval == design.interval


class Steady:
    """A design of one FIFO that gives a frame every ten cycles with any depth, or is the slower the longer it runs."""

    def __init__(self, drifts):
        self.design = SimpleNamespace(links=[SimpleNamespace(name="a", bits=8)], interval=10)
        self.simulations = self.cycles = 0
        self.drifts = drifts

    def run(self, frames, depths, limit=None):
        interval = 10 + frames if self.drifts else 10
        ends = tuple(interval * (at + 1) for at in range(frames))
        self.simulations, self.cycles = self.simulations + 1, self.cycles + ends[-1]
        return Run(0, ends, {}, SimpleNamespace(cycles=ends[-1], streams={}))


def test_what_a_search_did_not_do_is_noted():
    gauged = Gauge({"a": 300}, (), 10, 10)
    assert _searched(Steady(False), gauged, Budget()) == ({"a": 5}, True, [])
    assert _searched(Steady(False), gauged, Budget(simulations=2)) == (
        {"a": 257},
        False,
        ["the search ended early, after 3 simulations of 800 cycles"],
    )
    assert _searched(Steady(True), gauged, Budget()) == (
        gauged.depths,
        False,
        ["the depths that the search found lose the rate in the long run, so all are those of the gauges"],
    )


@pytest.mark.slow
def test_a_search_that_ends_early_says_so(design, simulations):
    done = sized(design, budget=Budget(simulations=2))
    assert not done.minimal
    assert done.simulations == 4
    (note,) = done.notes
    assert note.startswith("the search ended early, after 4 simulations of ")
    assert done.interval == design.interval
    assert done.report()["total_bits"] == done.report()["gauge_bits"]


@pytest.mark.parametrize("search", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_design_that_is_slower_than_its_estimate_says_so(design, simulations, search):
    """It is sized for the rate that it has."""
    hasty = replace(
        design, layers=tuple(replace(layer, cycles=layer.cycles * 3 // 4) for layer in design.layers)
    )
    done = sized(hasty, search=search)
    assert done.interval == design.interval
    assert done.notes == (
        f"a frame takes {design.interval:,.1f} cycles, and the estimate is {hasty.interval:,}: deeper FIFOs do not help",
    )


def test_random_frames_fill_the_range(design):
    (frames,) = random_frames(design).values()
    assert frames.shape == (8, 1, 2, 2, 2)
    assert (frames.min(), frames.max()) == (0, 3)
