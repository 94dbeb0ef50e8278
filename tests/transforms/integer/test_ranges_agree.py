"""Ranges: of what a front end states of a tensor and an array program proves of it, neither contradicts the other.

Both work with IntegerRange. A front end follows each channel, also where a program takes them together, so its ranges
may be narrower, and are never wider.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.program.lower import proved_ranges
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugins import steps
from brainsmith.transforms.integer_layers import IntegerLayers
from tests.transforms.integer.common_networks import NETWORKS
from tests.transforms.integer.moving_networks import MovingNetwork


def compared(network):
    """Check each tensor; return how many were compared, and how many of them have the same range in both."""
    transform = IntegerLayers()
    made = steps.cleanup(network.model(), None).transform(transform)
    proved = proved_ranges(runnable_copy(made))
    pairs = [
        ((record["low"], record["high"]), proved[record["tensor"]].ends)
        for record in transform.findings.tensors
        if record["tensor"] in proved
    ]
    for (low, high), (least, most) in pairs:
        assert least <= low <= high <= most
    return len(pairs), sum(stated == found for stated, found in pairs)


@pytest.mark.builds
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1 << 20), st.integers(1, 7))
def test_a_front_end_and_array_programs_prove_the_same_ranges(seed, steps_of_it):
    try:
        compared(MovingNetwork(seed).grow(steps_of_it))
    except ModelError as error:
        assert "no integer layers for" in str(error)


@pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)
def test_most_ranges_of_common_blocks_are_the_same(make):
    every, same = compared(make())
    assert same >= every // 2 > 0
