"""Gauges: with the depths that they say no FIFO holds anything back."""

import pytest

from brainsmith.errors import SimulationError, SimulationStalledError
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.sizing.adjustable import UNBOUNDED, usual_capacities
from brainsmith.rtl.sizing.fifo_hardware import DEEPEST
from brainsmith.rtl.sizing.gauges import enough_frames, gauge
from brainsmith.rtl.sizing.sizing_runs import Runner
from brainsmith.rtl.verification.design_runs import random_frames

FRAMES = 12


@pytest.fixture(scope="module")
def runner(design, simulations):
    return Runner(design, random_frames(design), usual_capacities(design), quick=True)


def moved(run):
    return {name: traffic.moved_at.tolist() for name, traffic in run.result.streams.items()}


@pytest.mark.slow
def test_depths_of_the_gauges_hold_nothing_back(runner, design):
    found = gauge(runner)
    assert (found.full, found.interval) == ((), design.interval)
    assert found.in_flight in (1, 2, 3)
    stalls = {stream.name: Stalls.steady(stream.layout.beats, design.interval) for stream in design.inputs}
    free = runner.run(FRAMES, dict.fromkeys(runner.capacities, UNBOUNDED), stalls=stalls)
    assert moved(runner.run(FRAMES, found.depths, stalls=stalls)) == moved(free)
    assert runner.run(FRAMES, found.depths).interval == design.interval


@pytest.mark.slow
def test_more_frames_than_fill_the_pipeline_do_not_fill_a_fifo_further(runner, design):
    found = gauge(runner)
    stalls = {stream.name: Stalls.steady(stream.layout.beats, design.interval) for stream in design.inputs}
    unbounded = dict.fromkeys(runner.capacities, UNBOUNDED)
    few, many = (
        runner.run(frames, unbounded, stalls=stalls)
        for frames in (enough_frames(found.in_flight), 8 * enough_frames(found.in_flight))
    )
    assert many.fills == few.fills
    assert (many.interval, few.interval) == (design.interval, design.interval)


@pytest.mark.slow
def test_values_do_not_matter(runner, design, simulations):
    zeros = {tensor: 0 * frames for tensor, frames in random_frames(design).items()}
    other = Runner(design, zeros, usual_capacities(design), quick=True)
    depths = dict.fromkeys(runner.capacities, 6)
    first, second = (one.run(FRAMES, depths) for one in (runner, other))
    assert moved(first) == moved(second)
    assert first.fills == second.fills


def test_a_depth_beyond_what_is_modelled_is_refused(runner):
    depths = dict.fromkeys(runner.capacities, 6) | {"s_axis_0": DEEPEST + 1}
    (bits,) = (link.bits for link in runner.design.links if link.name == "s_axis_0")
    before = runner.simulations
    with pytest.raises(SimulationError) as caught:
        runner.run(FRAMES, depths)
    assert str(caught.value) == (
        f"FIFOs of more than 262,144 beats cannot be sized: s_axis_0 (262,145 beats of {bits} bits)\n"
        "  fold the layers around them so that their rates are closer"
    )
    assert runner.simulations == before


@pytest.mark.slow
def test_a_fifo_that_reached_its_capacity_is_named(design, simulations):
    small = Runner(design, random_frames(design), usual_capacities(design) | {"s_axis_0": 16}, quick=True)
    run = small.run(FRAMES, dict.fromkeys(small.capacities, UNBOUNDED))
    assert run.fills["s_axis_0"] == 16
    assert "s_axis_0" in small.full(run)


def test_a_run_that_gives_no_frames_in_time_is_given_up(runner):
    with pytest.raises(SimulationStalledError, match=r"^'finn_design' did not end within 100 cycles:"):
        runner.run(FRAMES, dict.fromkeys(runner.capacities, 5), limit=100)


@pytest.mark.parametrize(("in_flight", "frames"), [(1, 8), (4, 20)])
def test_half_of_the_frames_come_when_the_pipeline_is_long_full(in_flight, frames):
    assert enough_frames(in_flight) == frames
