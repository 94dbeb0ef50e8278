"""Small random networks of layers with foldings, and the best choice of one by trying all."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from brainsmith.rtl.fitting.options import DeviceBudget, LayerOptions, Network, WidthLink

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
def budgets(draw):
    """Limits that some choices of `networks` exceed, and others do not."""
    return DeviceBudget(np.array([draw(st.integers(0, most)) for most in (400, 200, 20, 3, 30)]), PRICES)


def tried(network, budget, interval=None):
    """Return all choices that fit and are fast enough, each with its interval, latency and cost."""
    found = []
    for choice in product(*(range(len(layer.cycles)) for layer in network.layers)):
        needs = network.needs_of(choice)
        slow = interval is not None and network.interval_of(choice) > interval
        if not slow and (needs <= budget.limits).all():
            cost = float(budget.cost(needs))
            found.append((network.interval_of(choice), network.latency_of(choice), cost))
    return found
