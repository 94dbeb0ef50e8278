"""Small random networks of layers with foldings, and the best choice of one by trying all."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import strategies as st

from brainsmith.rtl.fitting.options import DeviceBudget, LayerOptions, Network, WidthLink
from brainsmith.rtl.fitting.pipeline import BeatStream, LayerEnd, Pipeline
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

PRICES = np.array([1 / 400, 0, 1 / 20, 0, 1 / 30])
NONE_LIMITED = DeviceBudget(np.array([10**6] * 5), PRICES)


@st.composite
def networks(draw):
    """Up to four layers of up to four foldings; each reads one or two in front; up to three widths at each link."""
    count = draw(st.integers(1, 4))
    layers = [_layer(draw, f"layer{at}") for at in range(count)]
    links = []
    for second in range(1, count):
        read = sorted(draw(st.sets(st.integers(0, second - 1), min_size=1, max_size=2)))
        links.extend(_link(draw, layers, first, second) for first in read)
    return Network(tuple(layers), tuple(links))


def _layer(draw, name):
    size = draw(st.integers(1, 4))
    cycles = draw(st.lists(st.integers(1, 6), min_size=size, max_size=size))
    needs = [[draw(st.integers(0, most)) for most in (100, 50, 6, 1, 9)] for _ in range(size)]
    return LayerOptions(name, np.array(cycles), np.array(needs))


def _link(draw, layers, first, second):
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    needs = np.zeros((rows, columns, 5), np.int64)
    for at in product(range(rows), range(columns)):
        needs[at][:2] = draw(st.tuples(st.integers(0, 60), st.integers(0, 20)))

    def widths(layer, most):
        size = len(layers[layer].cycles)
        return np.array(draw(st.lists(st.integers(0, most - 1), min_size=size, max_size=size)))

    return WidthLink(first, second, widths(first, rows), widths(second, columns), needs)


@st.composite
def timed_networks(draw):
    """The same, with schedules: options of a width take and give so many beats of a frame of 12 values."""
    network = draw(networks())
    schedules, layers = [], []
    beats = [
        sorted(draw(st.sets(st.sampled_from([1, 2, 3, 4, 6, 12]), min_size=3, max_size=3)))
        for _ in network.links
    ]
    for place, layer in enumerate(network.layers):
        taken = [(link.taken, beats[at]) for at, link in enumerate(network.links) if link.second == place]
        given = [(link.given, beats[at]) for at, link in enumerate(network.links) if link.first == place]
        ends = [
            [
                [counts[widths[option]] for widths, counts in side] or [draw(st.sampled_from([1, 2, 6]))]
                for side in (taken, given)
            ]
            for option in range(len(layer.cycles))
        ]
        first = len(schedules)
        schedules += [draw(schedules_of(*each)) for each in ends]
        layers.append(replace(layer, timings=np.arange(first, len(schedules))))
    return replace(
        network, layers=tuple(layers), pipeline=Pipeline(_streams(network), lambda at: (schedules[at],))
    )


def _streams(network):
    """Return the streams of a network, of which only the last layers leave it."""
    takes, gives, found = [0] * len(network.layers), [0] * len(network.layers), []
    for at, link in enumerate(network.links):
        ends = LayerEnd(link.first, gives[link.first]), LayerEnd(link.second, takes[link.second])
        found.append(BeatStream(*ends, at))
        gives[link.first] += 1
        takes[link.second] += 1
    for place in range(len(network.layers)):
        found += [BeatStream(None, LayerEnd(place, 0))] * (not takes[place])
        found += [BeatStream(LayerEnd(place, 0), None)] * (not gives[place])
    return tuple(found)


@st.composite
def schedules_of(draw, taken, given):
    """A schedule of so many beats of each input, and of each output; inputs in step or with few places."""
    turns = draw(st.integers(1, 14))

    def ascending(count, most):
        return np.sort(draw(st.lists(st.integers(0, most), min_size=count, max_size=count)))

    inputs = []
    for beats in taken:
        if turns < beats or draw(st.booleans()):
            needed = ascending(beats, turns - 1)
            places = draw(st.integers(1, 3))
            room = np.concatenate([needed[-places:] - turns, needed[: max(0, beats - places)]])
            room = np.minimum(room, needed - 1)
            inputs.append(Taking(needed, room, freed=1, wait=draw(st.integers(0, 2))))
        else:
            whole = np.sort(draw(st.permutations(range(turns)))[:beats])
            inputs.append(Taking(whole, opens=draw(st.sampled_from([None, np.zeros(1, np.int64)]))))
    outputs = []
    for beats in given:
        ends = np.maximum.accumulate(ascending(beats, turns - 1) - np.arange(beats)) + np.arange(beats)
        outputs.append(Giving(ends, draw(st.integers(0, 3))))
    apart = draw(st.sampled_from([None, 1]))
    return BeatSchedule(turns, tuple(inputs), tuple(outputs), apart, begin=draw(st.integers(0, 4)))


@st.composite
def budgets(draw):
    """Limits that some choices of `networks` exceed, and others do not."""
    return DeviceBudget(np.array([draw(st.integers(0, most)) for most in (400, 200, 20, 3, 30)]), PRICES)


def tried(network, budget, interval=None, latency_of=lambda network, choice: None):
    """Return all choices that fit and are fast enough, each with its interval, latency and cost."""
    found = []
    for choice in product(*(range(len(layer.cycles)) for layer in network.layers)):
        needs = network.needs_of(choice)
        slow = interval is not None and network.interval_of(choice) > interval
        if not slow and (needs <= budget.limits).all():
            cost = float(budget.cost(needs))
            found.append((network.interval_of(choice), latency_of(network, choice), cost))
    return found
