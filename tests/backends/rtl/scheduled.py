"""The beats of circuits against the schedules that their backends state, beat by beat."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.rtl.simulation.native import opened
from brainsmith.rtl.simulation.replay import Replay
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.timing.schedule_timing import Played
from tests.backends.rtl.bench import make_design

FRAMES = 6
SPREADS = (0, 1, 2, 5, 40)
"""Cycles that beats come apart on the average."""


def assert_beats_as_scheduled(cases, folder, seed=0):
    """Assert that each case takes and gives its beats in the cycles that its schedule says, whenever they arrive.

    A case of which its backend states none is left out.
    """
    model, design = make_design(cases, folder)
    schedules = {node.name: getCustomOp(node).beat_schedule() for node in model.graph.node}
    random, due, expected, latest = np.random.default_rng(seed), {}, {}, {}
    for layer, schedule in schedules.items():
        arrivals = [drawn_arrivals(random, len(one.turns)) for one in schedule.taken]
        played = Played(schedule)
        for frame in range(FRAMES):
            played.frame([one.reshape(FRAMES, -1)[frame] for one in arrivals])
        fed, given = streams(design, layer)
        due |= dict(zip(fed, arrivals, strict=True))
        if schedule.stated:
            moved = map(np.concatenate, (*played.taken, *played.given))
            expected |= dict(zip((*fed, *given), moved, strict=True))
            latest |= {
                name: expected.pop(name) for name, one in zip(fed, schedule.taken, strict=True) if one.sooner
            }
    last = int(max((cycles[-1] for cycles in expected.values()), default=0))
    simulator = build_simulator(plan_design(design), quick=True)
    with opened(simulator.library, simulator.plan.top) as handle:
        moved = Replay(simulator, handle).run(
            last + 100, {name: one.astype(np.uint64) for name, one in due.items()}
        )
    wrong = {
        name: (expected[name], cycles)
        for name, cycles in moved.items()
        if name in expected and not np.array_equal(expected[name], cycles)
    }
    assert wrong == {}
    assert {name: moved[name] for name, cycles in latest.items() if (moved[name] > cycles).any()} == {}


def law_of_schedules(cases, draws, least, most):
    """Return a test that draws lists of cases, of a strategy, and compares each list with its schedules."""

    @pytest.mark.compiles(tried=1)
    @settings(max_examples=draws, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(drawn=st.lists(cases, min_size=least, max_size=most), seed=st.integers(0, 1000))
    def law(tmp_path_factory, simulations, drawn, seed):
        assert_beats_as_scheduled(drawn, tmp_path_factory.mktemp("scheduled"), seed)

    return law


def drawn_arrivals(random, beats):
    """Return from which cycle on each beat of all frames may be taken: each frame's come apart in another way."""
    apart = [random.integers(0, 2 * spread + 1, beats) for spread in random.choice(SPREADS, FRAMES)]
    pauses = [random.integers(0, 3 * beats) * (random.random(beats) < 0.05) for _ in range(FRAMES)]
    return np.cumsum(np.concatenate(apart) + np.concatenate(pauses)) + random.integers(0, 9)


def streams(design, layer):
    """Return the design's inputs that lead to a layer, and its outputs that come from it."""
    fed = [link.source.stream for link in design.links if link.target.layer == layer and not link.weights]
    return fed, [link.target.stream for link in design.links if link.source.layer == layer]
