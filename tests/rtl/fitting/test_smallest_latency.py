"""The smallest latency that fits is that of the layers' schedules: compared with all choices, each played as a whole."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.rtl.fitting.pipeline import latency_of, order_of, waits_of
from brainsmith.rtl.fitting.smallest_latency import LatencySearch
from brainsmith.rtl.fitting.solve import Chosen, choose
from brainsmith.rtl.stitching.design import DESIGN
from brainsmith.rtl.timing.beat_schedule import converted
from brainsmith.rtl.timing.flow import first_latency
from tests.rtl.fitting.drawn_networks import NONE_LIMITED, budgets, timed_networks, tried
from tests.rtl.timing.networks import link


def choices(network):
    return list(product(*(range(len(layer.cycles)) for layer in network.layers)))


def latency_by_links(network, choice):
    """Return the latency as the estimate of a built model has it: of links and layers, converters among them."""
    stages = [
        network.pipeline.stages(int(layer.timings[at]))
        for layer, at in zip(network.layers, choice, strict=True)
    ]
    schedules = {f"layer{place}": schedule for place, (schedule,) in enumerate(stages)}
    before, behind = {name: {} for name in schedules}, {name: {} for name in schedules}
    links = []
    for number, stream in enumerate(network.pipeline.streams):
        source = DESIGN if stream.source is None else f"layer{stream.source.layer}"
        target = DESIGN if stream.target is None else f"layer{stream.target.layer}"
        given = None if stream.source is None else len(schedules[source].given[stream.source.at].turns)
        taken = given if stream.target is None else len(schedules[target].taken[stream.target.at].turns)
        first = last = link(f"stream{number}", source, target, taken)
        if given not in (None, taken):
            name = f"converter{number}"
            schedules[name] = converted(given, taken)
            first, last = link(f"to{number}", source, name, given), link(f"from{number}", name, target, taken)
        if stream.source is not None:
            behind[source][stream.source.at] = first
        if stream.target is not None:
            before[target][stream.target.at] = last
        links += [first] if first is last else [first, last]
    # Layers take their inputs, and give their outputs, in the order of the links.
    order = {id(one): at for name in before for at, one in sorted(before[name].items())}
    assert all(order.get(id(one), 0) >= 0 for one in links)
    return first_latency(links, schedules)


@settings(max_examples=150)
@given(timed_networks())
def test_a_latency_is_that_of_a_built_model(network):
    for choice in choices(network)[:8]:
        assert latency_of(network, choice) == latency_by_links(network, choice)


@settings(max_examples=150)
@given(timed_networks(), st.data())
def test_what_a_choice_waits_for_is_as_long_as_its_latency_and_bounds_all_others(network, data):
    every = choices(network)
    chosen = data.draw(st.sampled_from(every))
    waits = list(waits_of(network, chosen, lambda moment: False))
    for choice in every:
        since = {None: 0}
        for wait in sorted(waits, key=lambda wait: order_of(network, wait)):
            cycles = wait.cycles
            if wait.layer is not None:
                cycles = cycles[choice[wait.layer]]
            elif wait.link is not None:
                link = network.links[wait.link]
                cycles = cycles[link.given[choice[link.first]], link.taken[choice[link.second]]]
            after = "end" if wait.after is None else wait.after
            assert wait.before in since, "each moment is explained before one that waits for it"
            since[after] = max(since.get(after, 0), since[wait.before] + cycles)
        assert since["end"] <= latency_of(network, choice)
        if choice == chosen:
            assert since["end"] == latency_of(network, choice)


@settings(max_examples=300)
@given(timed_networks(), budgets(), st.none() | st.integers(1, 6))
def test_the_smallest_latency_that_fits_and_then_the_cheapest(network, budget, interval):
    found = choose(network, budget, "latency", interval)
    every = tried(network, budget, interval, latency_of)
    assert isinstance(found, Chosen) == bool(every)
    if every:
        best = min((latency, cost) for _, latency, cost in every)
        assert found.proven
        assert (found.latency, found.cost) == pytest.approx(best)
        assert found.latency == latency_of(network, found.choice)
        assert (network.needs_of(found.choice) <= budget.limits).all()


@given(timed_networks())
def test_without_time_the_first_choice_stays_and_nothing_is_proven(network):
    search = LatencySearch(network, NONE_LIMITED, choices(network)[0], seconds=0)
    search.lower()
    assert (search.choice, search.bound) == (choices(network)[0], 0)
    assert search.cheapest() == (choices(network)[0], 0.0)
