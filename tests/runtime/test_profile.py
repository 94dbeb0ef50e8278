"""What a target took."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.runtime.profile import Meter


def metered(latencies):
    meter = Meter("toy", 0)
    for seconds in latencies:
        meter.add(executes=1, samples=2, execute_seconds=seconds)
    return meter.profile()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(1e-6, 10), min_size=1, max_size=50), st.floats(0, 100))
def test_a_percentile_is_a_latency_that_so_many_did_not_exceed(latencies, percent):
    value = metered(latencies).percentile(percent)
    assert value in latencies
    assert sum(latency <= value for latency in latencies) >= len(latencies) * percent / 100
    less = [latency for latency in latencies if latency < value]
    assert not less or len(less) < len(latencies) * percent / 100


def test_nothing_was_executed():
    profile = metered([])
    assert (profile.throughput, profile.percentile(50), profile.latencies) == (0.0, 0.0, ())


def test_throughput_and_percentiles():
    profile = metered([0.1, 0.4, 0.2, 0.3])
    assert profile.throughput == pytest.approx(8.0)
    assert [profile.percentile(p) for p in (0, 25, 50, 99, 100)] == [0.1, 0.1, 0.2, 0.4, 0.4]
    ten = metered([float(seconds) for seconds in range(10, 0, -1)])
    assert [ten.percentile(p) for p in (0, 10, 50, 50.1, 90, 91)] == [1, 1, 5, 6, 9, 10]


def test_a_percentile_that_is_none():
    with pytest.raises(ValueError, match=r"^percent must be between 0 and 100, not 101$"):
        metered([1.0]).percentile(101)


def test_old_latencies_only_count_in_the_totals():
    profile = metered([1.0] * 10_001)
    assert (profile.executes, len(profile.latencies)) == (10_001, 10_000)
