"""Plain counts and histograms: what is noted is what is found, by as many threads as there are."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.monitoring.timings import Tally, Timings

BOUNDS = (0.1, 1.0, 10.0)
SECONDS = st.floats(0, 100)


@given(st.lists(st.tuples(st.sampled_from(["ok", "failed"]), SECONDS)))
def test_a_histogram_counts_what_is_up_to_each_bound(noted):
    timings = Timings(BOUNDS)
    for label, seconds in noted:
        timings.note((label,), seconds)
    found = timings.found()
    assert list(found) == sorted({(label,) for label, _ in noted})
    for (label,), distribution in found.items():
        own = [seconds for other, seconds in noted if other == label]
        assert distribution.counts == (
            *(sum(seconds <= bound for seconds in own) for bound in BOUNDS),
            len(own),
        )
        assert abs(distribution.seconds - sum(own)) < 1e-6


def test_what_may_happen_is_there_before_it_does():
    timings = Timings(BOUNDS, [("ok",), ("failed",)])
    assert {labels: found.counts for labels, found in timings.found().items()} == {
        ("failed",): (0, 0, 0, 0),
        ("ok",): (0, 0, 0, 0),
    }
    timings.note(("ok",), 0.5)
    assert timings.found()["ok",].counts == (0, 1, 1, 1)


def test_threads_lose_nothing():
    tally, timings = Tally(), Timings(BOUNDS)

    def count(_):
        for _ in range(500):
            tally.add(("a",))
            timings.note(("a",), 0.5)
            tally.add(("b",), -1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    assert tally.found() == {("a",): 4000, ("b",): -4000}
    assert timings.found()["a",].counts == (0, 4000, 4000, 4000)
