"""The flow of beats is that of a simulation, beat by beat; and the FIFOs that it tells keep the rate."""

import numpy as np
from hypothesis import given, settings

from brainsmith.rtl.stitching.design import DESIGN
from brainsmith.rtl.timing.beat_schedule import converted, gathered, one_after_the_other, one_by_one, replayed
from brainsmith.rtl.timing.flow import first_latency, flow
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
@given(networks())
def test_the_rate_is_kept_with_the_fifos_that_it_tells(network):
    found = flow(network.links, network.schedules, network.interval)
    frames = 2 * FRAMES
    _, left = moved(network, frames, at_once, found.fills)
    ends = left["out"][:: -len(left["out"]) // frames][::-1]
    assert ends[-1] - ends[-1 - FRAMES] <= FRAMES * found.interval


def test_a_beat_that_opens_a_part_waits_until_it_is_taken_and_the_next_one_beside_it():
    """Padding begins a part when its first beat is there, and takes it two turns later: the next one is there by then."""
    links, schedules = chain(
        windowed(4, 2, 3),
        replayed(8, 1, 2, 2, wait=2, delay=0, whole=False),
        padded(16, 2, 3, parts=8, opens=True),
    )
    network = Network(links, schedules)
    found = flow(links, schedules, network.interval)
    _, left = moved(network, 20, at_once, found.fills)
    assert (found.interval, found.fills["link2"]) == (56, 2)
    assert left["out"][-1] - left["out"][-1 - 10 * 56] == 10 * 56


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
