"""Runs that fail say why: who waits for whom, which FIFO is full, how many beats moved."""

import numpy as np
import pytest

from brainsmith.errors import SimulationStalledError
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.explained_runs import run_explained
from tests.rtl.verification.branches import BEATS, branches

FRAMES = np.arange(6 * BEATS).reshape(6, BEATS)


@pytest.fixture
def explained(build, library, simulations):
    def run(depth, **arguments):
        design = branches(library, depth)
        simulator = build(plan_design(design), quick=True)
        return run_explained(simulator, design, {"x": FRAMES}, **arguments)

    return run


@pytest.mark.slow
def test_a_run_that_ends_is_not_explained(explained):
    run = explained(18)
    np.testing.assert_array_equal(run.outputs["y"], 2 * FRAMES)


def test_a_deadlock_says_which_fifo_is_full_and_who_waits_for_whom(explained):
    with pytest.raises(SimulationStalledError) as caught:
        explained(2)
    assert str(caught.value) == (
        "'branches' did not end within 2,440 cycles:\n"
        "  input 's_axis_0' took 5 of 96 beats, the last one in cycle 4; one is offered and not taken\n"
        "  output 'm_axis_0' gave 0 of 96 beats, none at all\n"
        "  if it only needs longer: limit=CYCLES (brainsmith simulate: --limit CYCLES)\n"
        "the design stands still after 2,440 cycles and 6 frames:\n"
        "  'sum' lacks beat 0 (of 16) of frame 0, 0 of 96 moved: layer 'join' does not give it\n"
        "  'collected' lacks beat 0 (of 16) of frame 0, 0 of 96 moved: layer 'collect' does not give it\n"
        "  'slow' lacks beat 5 (of 16) of frame 0, 5 of 96 moved: layer 'fork' does not give it\n"
        "  the FIFO of 'short' is full with 5 beats: layer 'join' does not take a beat at 'short', 5 of 96 moved\n"
        "  so all of these wait for each other, from 'collected' on\n"
        "  s_axis_0 (s_axis_0 -> fork.in0_V): 5 of 96 beats\n"
        "  slow (fork.out0_V -> collect.in0_V): 5 of 96 beats\n"
        "  short (fork.out1_V -> join.in1_V): 5 of 96 beats, 5 in its FIFO (depth 2)\n"
        "  collected (collect.out0_V -> join.in0_V): 0 of 96 beats\n"
        "  sum (join.out0_V -> m_axis_0): 0 of 96 beats\n"
        "  give 'short' a deeper FIFO: it must hold what waits while the other branch of 'fork' computes; run the step "
        "rtl_size_fifos, or design.with_depths"
    )


def test_a_limit_that_is_too_low_is_told_from_a_deadlock(explained):
    with pytest.raises(SimulationStalledError) as caught:
        explained(18, limit=60)
    text = str(caught.value)
    assert text.startswith("'branches' did not end within 60 cycles:\n")
    assert "\nbeats still moved after 60 cycles, and all of them were right: set a higher limit\n" in text
