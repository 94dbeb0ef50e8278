"""When the garbage collector runs, within contexts and after them."""

import gc

import pytest

from brainsmith.collector import collector_at_rest, collector_seldom


@pytest.fixture(autouse=True)
def as_it_was():
    before = gc.isenabled(), gc.get_threshold()
    yield
    assert (gc.isenabled(), gc.get_threshold()) == before


def test_at_rest_it_does_not_run_and_then_does_again():
    for context in (collector_at_rest, collector_seldom):
        with pytest.raises(KeyError), collector_at_rest(), context():
            assert not gc.isenabled()
            raise KeyError
    assert gc.isenabled()
    gc.disable()
    with collector_at_rest():
        pass
    assert not gc.isenabled()
    gc.enable()


def test_seldom_is_when_there_are_200_000_new_objects():
    collected = []
    gc.collect()
    gc.callbacks.append(lambda phase, info: collected.append(phase))
    try:
        with collector_seldom():
            few = [[] for _ in range(100_000)]
            assert collected == []
            many = [[] for _ in range(110_000)]
            assert collected == ["start", "stop"]
            del few, many
    finally:
        gc.callbacks.pop()


def test_after_seldom_nothing_is_visited_that_was_made_meanwhile():
    collected = []
    gc.unfreeze()  # what tests/conftest.py froze
    gc.collect()
    with collector_seldom():
        made = [[] for _ in range(100_000)]
    gc.callbacks.append(lambda phase, info: collected.append(info["generation"]))
    try:
        few = [[] for _ in range(300)]
        assert collected == []
    finally:
        gc.callbacks.pop()
    assert gc.get_freeze_count() == 0
    del made, few
