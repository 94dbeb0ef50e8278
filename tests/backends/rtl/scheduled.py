"""The beats of circuits against the schedules that their backends state, beat by beat."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.rtl.simulation.native import opened
from brainsmith.rtl.simulation.replay import Replay
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.sizing.traces import THROUGH
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.timing.schedule_timing import Played
from tests.backends.rtl.bench import make_design
from tests.rtl.timing.networks import Moves, Network, recursing

FRAMES = 6
SPREADS = (0, 1, 2, 5, 40)
"""Cycles that beats come apart on the average."""

AFTER = 100
"""Cycles in which nothing more may move."""


def assert_beats_as_scheduled(cases, folder, seed=0, *, exact_stalls=True):
    """Assert that each case takes and gives its beats in the cycles that its schedule says.

    First they arrive at random, and outputs are always taken; then outputs are stalled at random, and inputs are always
    there, unless the schedule is not exact then. A case of which its backend states no schedule is left out.
    """
    model, design = make_design(cases, folder)
    stated = {node.name: getCustomOp(node).beat_schedule() for node in model.graph.node}
    simulator, random = build_simulator(plan_design(design), quick=True), np.random.default_rng(seed)
    for stalled in (False, True)[: 1 + exact_stalls]:
        due, expected, latest = {}, {}, {}
        for layer, schedule in stated.items():
            fed, given = _streams(design, layer, schedule)
            drawn = {
                name: _drawn_cycles(random, len(one.turns))
                for name, one in (given if stalled else fed).items()
            }
            always = {name: np.zeros(FRAMES * len(one.turns), np.int64) for name, one in fed.items()}
            due |= always | drawn
            if schedule.stated:
                moved = (
                    _stalled(design, layer, schedule, due) if stalled else _played(schedule, fed, given, due)
                )
                latest |= {name: moved.pop(name) for name, one in fed.items() if one.sooner}
                expected |= moved
        last = int(max((cycles[-1] for cycles in (*expected.values(), *due.values())), default=0))
        with opened(simulator.library, simulator.plan.top) as handle:
            moved = Replay(simulator, handle).run(
                last + AFTER, {name: one.astype(np.uint64) for name, one in due.items()}
            )
        wrong = {
            name: (cycles, moved[name])
            for name, cycles in expected.items()
            if not np.array_equal(cycles, moved[name])
        }
        assert wrong == {}, f"{'stalled' if stalled else 'never stalled'}: as (stated, moved)"
        assert {name: moved[name] for name, cycles in latest.items() if (moved[name] > cycles).any()} == {}


def _played(schedule, fed, given, due):
    """Return when the beats of a layer move, by the names of its streams, if its outputs are always taken."""
    played = Played(schedule)
    for frame in range(FRAMES):
        played.frame([due[name].reshape(FRAMES, -1)[frame] for name in fed])
    moved = map(np.concatenate, (*played.taken, *played.given))
    return dict(zip((*fed, *given), moved, strict=True))


def _stalled(design, layer, schedule, due):
    """Return the same if they are taken when they are due, computed beat by beat from the definitions."""
    links = [
        link for link in design.links if layer in (link.source.layer, link.target.layer) and not link.weights
    ]
    moves = _Stalled(Network(links, {layer: schedule}), due)
    with recursing():
        return {
            name: np.array([when(link.name, number) for number in range(len(due[name]))])
            for link in links
            for name, when in [
                (link.target.stream, moves.put)
                if link.source.layer == layer
                else (link.source.stream, moves.left)
            ]
        }


class _Stalled(Moves):
    """When the beats of a layer move between a source and a sink that are due in given cycles."""

    def __init__(self, network, due):
        super().__init__(network, None, {})
        self.due = due

    def put_after(self, one, number):
        if one.target.layer in self.network.schedules:
            yield self.due[one.source.stream][number] - THROUGH
        else:
            yield from super().put_after(one, number)

    def place_after(self, one, number):
        yield from super().place_after(one, number)
        if one.source.layer in self.network.schedules:
            yield self.due[one.target.stream][number]


def law_of_schedules(cases, draws, least, most, *, exact_stalls=True):
    """Return a test that draws lists of cases, of a strategy, and compares each list with its schedules."""

    @pytest.mark.compiles(tried=1)
    @settings(max_examples=draws, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(drawn=st.lists(cases, min_size=least, max_size=most), seed=st.integers(0, 1000))
    def law(tmp_path_factory, simulations, drawn, seed):
        assert_beats_as_scheduled(
            drawn, tmp_path_factory.mktemp("scheduled"), seed, exact_stalls=exact_stalls
        )

    return law


def _drawn_cycles(random, beats):
    """Return from which cycle on each beat of all frames may move: each frame's come apart in another way."""
    apart = [random.integers(0, 2 * spread + 1, beats) for spread in random.choice(SPREADS, FRAMES)]
    pauses = [random.integers(0, 3 * beats) * (random.random(beats) < 0.05) for _ in range(FRAMES)]
    return np.cumsum(np.concatenate(apart) + np.concatenate(pauses)) + random.integers(0, 9)


def _streams(design, layer, schedule):
    """Return the design's inputs that lead to a layer, and its outputs that come from it, by name, with their beats."""
    fed = [link.source.stream for link in design.links if link.target.layer == layer and not link.weights]
    given = [link.target.stream for link in design.links if link.source.layer == layer]
    return dict(zip(fed, schedule.taken, strict=True)), dict(zip(given, schedule.given, strict=True))
