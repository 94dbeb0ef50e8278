"""Streams that have their turns: a parameter for all, and what the turns need."""

import pytest

from brainsmith.rtl.cores.turns import multiplexer_luts, packed, turn_resources
from brainsmith.rtl.synthesis.cells import Resources


def test_each_stream_has_32_bits_of_a_parameter():
    assert packed([1, 2, 3]) == 0x3_00000002_00000001


@pytest.mark.parametrize(("count", "luts"), [(1, 0), (2, 1), (4, 1), (5, 2.5), (8, 3.5), (16, 6.5)])
def test_a_multiplexer_grows_with_its_inputs(count, luts):
    assert multiplexer_luts(count) == luts


@pytest.mark.parametrize(
    ("beats", "needs"),
    [
        ([1, 1], Resources(lut=7, ff=2)),
        ([8, 8], Resources(lut=9, ff=4)),
        ([8, 4, 4], Resources(lut=16, ff=5)),
        ([8, 4, 4, 8], Resources(lut=14, ff=5)),
    ],
)
def test_turns_that_differ_must_be_loaded(beats, needs):
    assert turn_resources(beats) == needs
