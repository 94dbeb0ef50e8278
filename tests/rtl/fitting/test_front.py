"""The front is what the cheapest circuits of all intervals are: compared with all choices there are."""

import pytest
from hypothesis import given, settings

from brainsmith.rtl.fitting.cheapest import front_of
from brainsmith.rtl.fitting.forest import Forest, is_forest
from tests.rtl.fitting.drawn_networks import NONE_LIMITED, networks, tried


def expected(network):
    found = []
    for interval in network.intervals:
        cost = min(each[2] for each in tried(network, NONE_LIMITED, interval))
        if not found or cost < found[-1][1] - 1e-9:
            found.append((interval, cost))
    return found


@settings(max_examples=200)
@given(networks())
def test_the_front_has_the_cheapest_circuit_of_each_interval(network):
    points = front_of(network, NONE_LIMITED)
    every = expected(network)
    assert [point.cost for point in points] == pytest.approx([cost for _, cost in every])
    assert [point.interval for point in points] == [interval for interval, _ in every]
    for point in points:
        assert point.proven and point.interval == network.interval_of(point.choice)
        assert (point.needs == network.needs_of(point.choice)).all()


@settings(max_examples=200)
@given(networks())
def test_without_branches_no_program_is_needed(network):
    if is_forest(network):
        forest = Forest(network, NONE_LIMITED.prices)
        for interval in network.intervals:
            cost = float(NONE_LIMITED.cost(network.needs_of(forest.cheapest(int(interval)))))
            assert cost == pytest.approx(min(each[2] for each in tried(network, NONE_LIMITED, interval)))


def test_a_network_whose_branches_meet_again_is_no_forest():
    def shape(*ends):
        from types import SimpleNamespace

        links = [SimpleNamespace(first=first, second=second) for first, second in ends]
        return SimpleNamespace(layers=range(4), links=links)

    assert is_forest(shape((0, 1), (0, 2), (2, 3)))
    assert not is_forest(shape((0, 1), (0, 2), (1, 3), (2, 3)))
