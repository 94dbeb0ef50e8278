"""The flow of beats is that of a simulation, beat by beat; and the FIFOs that it tells keep the rate."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.rtl.sizing.fifo_hardware import held
from brainsmith.rtl.stitching.design import DESIGN
from brainsmith.rtl.timing.beat_schedule import converted, gathered, one_after_the_other, one_by_one, replayed
from brainsmith.rtl.timing.bounded_flow import BoundedFlow
from brainsmith.rtl.timing.flow import _steady, first_latency, flow
from tests.rtl.timing.networks import Network, link, moved, networks, padded, windowed

FRAMES = 10


def at_once(beat, beats):
    return beat


@settings(max_examples=60)
@given(networks())
def test_the_latency_is_that_of_a_simulation(network):
    _, left = moved(network, 1, at_once)
    assert first_latency(network.links, network.schedules) == left["out"][-1] + 1


@settings(max_examples=60)
@given(networks())
def test_fifos_become_as_full_as_in_a_simulation(network):
    found = flow(network.links, network.schedules, network.interval)
    put, left = moved(network, FRAMES, lambda beat, beats: beat * found.interval // beats)
    for one in network.links:
        times = put[one.name]
        waiting = [
            at + 1 - int(np.searchsorted(left[one.name], time, side="right")) for at, time in enumerate(times)
        ]
        assert max(waiting) == found.early[one.name]


@settings(max_examples=60)
@given(networks(most=20))
def test_the_rate_is_kept_with_the_fifos_that_it_tells(network):
    found = flow(network.links, network.schedules, network.interval)
    assert keeps_rate(network, found.interval, places_of(network, found.depths))


@settings(max_examples=100)
@given(networks(most=12), st.data())
def test_a_rate_that_is_told_to_be_kept_is_kept(network, data):
    early, interval = _steady(network.links, network.schedules, network.interval)
    bounded = BoundedFlow(network.links, network.schedules, early.given, early.taken, interval)
    places = {one.name: 1 + early.fills[one.name] for one in network.links}
    assert bounded.keeps_rate(places)
    for _ in range(3):
        fewer = {name: data.draw(st.integers(max(1, count // 2), count)) for name, count in places.items()}
        kept = keeps_rate(network, interval, fewer)
        told = bounded.keeps_rate(fewer)
        assert kept or not told
        places = fewer if told else places


def keeps_rate(network, interval, places):
    """Tell whether frames come at an interval in the long run, with FIFOs of so many places."""
    try:
        _, left = moved(network, 3 * FRAMES, at_once, places)
    except RecursionError:
        return False
    beats = len(left["out"]) // (3 * FRAMES)
    return left["out"][-1] - left["out"][-1 - FRAMES * beats] <= FRAMES * interval


def places_of(network, depths):
    return {one.name: held(depths[one.name], one.bits) for one in network.links}


def test_a_beat_that_opens_a_part_waits_until_it_is_taken_and_the_next_one_beside_it():
    """Padding begins a part when its first beat is there, and takes it two turns later: the next one is there by then."""
    links, schedules = chain(
        windowed(4, 2, 3),
        replayed(8, 1, 2, 2, wait=2, delay=0, whole=False),
        padded(16, 2, 3, parts=8, opens=True),
    )
    network = Network(links, schedules)
    found = flow(links, schedules, network.interval)
    assert (found.interval, found.early["link2"], found.depths["link2"]) == (56, 6, 5)
    assert keeps_rate(network, 56, places_of(network, found.depths))


def chain(*layers):
    """Return the links and schedules of layers one after the other."""
    names = [DESIGN, *(f"layer{at}" for at in range(len(layers))), DESIGN]
    beats = [len(layers[0].taken[0].turns), *(len(layer.given[0].turns) for layer in layers)]
    streams = [*(f"link{at}" for at in range(len(layers))), "out"]
    links = [
        link(stream, names[at], names[at + 1], count)
        for at, (stream, count) in enumerate(zip(streams, beats, strict=True))
    ]
    return links, dict(zip(names[1:-1], layers, strict=True))


def test_a_frame_is_later_by_what_each_layer_waits():
    """The sums of 4 beats each, of 8 beats: the last one after its beat, a FIFO of 2 cycles on each side."""
    links, schedules = chain(gathered(8, 2, delay=3))
    assert first_latency(links, schedules) == 7 + 2 + 3 + 2 + 1


def test_layers_that_overlap_are_faster_than_their_sum():
    links, schedules = chain(one_by_one(100), one_by_one(100))
    assert first_latency(links, schedules) == 100 + 3 * 2 + 2 * 1


def test_a_layer_without_a_schedule_begins_to_give_when_it_took_all():
    links, schedules = chain(one_after_the_other([4], [4], 8))
    assert first_latency(links, schedules) == 8 + 2 + 1 + 2


def test_an_interval_that_a_layer_does_not_keep_is_that_of_the_layer():
    links, schedules = chain(one_by_one(4), one_after_the_other([4], [4], 30))
    assert flow(links, schedules, 10).interval == 30


def test_a_burst_waits_in_a_fifo_unless_the_layer_before_it_has_time():
    """A layer that gives 3 beats for each it takes, before one that needs 4 cycles for each beat: only gauges are deep."""
    fast = converted(8, 24)
    links, schedules = chain(
        gathered(32, 8, delay=1), fast, replayed(24, 1, 4, 2, wait=2, delay=1, whole=False)
    )
    found = flow(links, schedules, 96)
    assert found.fifo_bits <= found.gauge_bits
    assert found.interval == 96
