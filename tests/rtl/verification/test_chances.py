"""How often streams must stall for a share of all cycles."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.verification.chances import stall_chance


@given(st.integers(1, 10_000), st.integers(1, 100), st.floats(0.05, 0.6))
def test_the_expected_share_is_reached(beats, spacing, share):
    interval = beats * spacing
    chance = stall_chance(beats, interval, share)
    assert 0 < chance < 1
    wait = beats * chance / (1 - chance)
    slowed = max(interval, beats + wait)
    assert wait / slowed >= share * 0.99


def test_known_chances():
    assert stall_chance(512, 512) == 0.2 / (1 - 0.2) / (1 + 0.25)
    assert round(stall_chance(10, 512), 3) == 0.911
    assert round(stall_chance(10, 9216), 3) == 0.995
