"""Layer by layer, the gauges say what those of the whole design say."""

import pytest
from hypothesis import HealthCheck, given, settings

from brainsmith.rtl.sizing.adjustable import usual_capacities
from brainsmith.rtl.sizing.gauges import enough_frames, gauge, throttled
from brainsmith.rtl.sizing.layer_by_layer import gauge_layers
from brainsmith.rtl.sizing.sizing_runs import Runner
from brainsmith.rtl.sizing.values_left_out import leave_values_out
from brainsmith.rtl.verification.design_runs import random_frames
from tests.rtl.sizing.circuits import circuits, stitched


def whole(design):
    """Return what gauges in the whole design say, and how many beats were in each."""
    runner = Runner(design, random_frames(design), usual_capacities(design), quick=True)
    found = gauge(runner)
    return found, throttled(runner, enough_frames(found.in_flight), found.interval).fills


def assert_alike(design):
    parts = gauge_layers(leave_values_out(design))
    assert (parts.gauge, parts.fills) == whole(design)
    return parts


@pytest.mark.slow
def test_a_chain_is_gauged_as_a_whole(design, simulations):
    parts = assert_alike(design)
    assert (parts.simulations, parts.unsettled) == (8, ())


@pytest.mark.slow
@pytest.mark.compiles(tried=2)
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(chain=circuits())
def test_branches_are_gauged_as_a_whole(tmp_path_factory, simulations, chain):
    assert_alike(stitched(chain, tmp_path_factory.mktemp("circuit")))
