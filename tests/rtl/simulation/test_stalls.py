"""Stalls that would never let a beat pass are refused."""

import pytest

from brainsmith.rtl.simulation.stalls import Stalls


def test_the_share_of_cycles_that_stall():
    shares = [
        s.share
        for s in (Stalls(), Stalls.random(1, 0.3), Stalls.pattern([0, 1, 1, 1]), Stalls.pattern([1, 0]))
    ]
    assert shares == [0, 0.3, 0.75, 0.5]


@pytest.mark.parametrize("make", [lambda: Stalls.pattern([1, 1]), lambda: Stalls.pattern([])])
def test_bits_must_let_a_beat_pass(make):
    with pytest.raises(ValueError, match=r"^bits must have a 0 in them, or no beat would ever pass$"):
        make()


def test_a_probability_must_be_below_one():
    with pytest.raises(ValueError, match=r"^probability must be 0 or more and below 1, not 1$"):
        Stalls.random(0, 1)
