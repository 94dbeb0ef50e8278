"""The foldings that the solver chooses are the best ones: compared with all there are."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.rtl.devices.device import FpgaDevice
from brainsmith.rtl.fitting.options import LayerOptions, Network, WidthLink, budget_of
from brainsmith.rtl.fitting.solve import Chosen, Misfit, choose, fits
from tests.rtl.fitting.drawn_networks import budgets, networks, tried

INTERVALS = st.none() | st.integers(1, 6)


def is_choice(found, network, budget, interval):
    """Tell whether what was found is a choice that fits, with the figures of that choice."""
    needs = network.needs_of(found.choice)
    figures = network.interval_of(found.choice), float(budget.cost(needs))
    fast = interval is None or found.interval <= interval
    stated = found.interval, found.cost
    return fast and (needs <= budget.limits).all() and stated == figures and (found.needs == needs).all()


@settings(max_examples=300)
@given(networks(), budgets(), INTERVALS)
def test_the_smallest_interval_that_fits_and_then_the_cheapest(network, budget, interval):
    found = choose(network, budget, "fps", interval)
    every = tried(network, budget, interval)
    assert isinstance(found, Chosen) == bool(every)
    if every:
        best = min((one, cost) for one, _, cost in every)
        assert is_choice(found, network, budget, interval) and found.proven
        assert (found.interval, found.cost) == pytest.approx(best)


@settings(max_examples=300)
@given(networks(), budgets(), INTERVALS)
def test_the_cheapest_that_is_fast_enough(network, budget, interval):
    found = choose(network, budget, "resources", interval)
    every = tried(network, budget, interval)
    assert isinstance(found, Chosen) == bool(every)
    if every:
        assert is_choice(found, network, budget, interval) and found.proven
        assert found.cost == pytest.approx(min(cost for _, _, cost in every))


@settings(max_examples=200)
@given(networks(), budgets(), INTERVALS)
def test_something_fits_where_a_choice_does(network, budget, interval):
    assert fits(network, budget, interval) == bool(tried(network, budget, interval))


@settings(max_examples=200)
@given(networks(), budgets())
def test_what_does_not_fit_is_shown_at_its_nearest(network, budget):
    found = choose(network, budget)
    if isinstance(found, Misfit):

        def excess(needs):
            return max(0, *((needs - budget.limits) / np.maximum(budget.limits, 1)))

        from itertools import product

        every = product(*(range(len(layer.cycles)) for layer in network.layers))
        nearest = min(excess(network.needs_of(choice)) for choice in every)
        assert excess(found.needs) == pytest.approx(nearest) and nearest > 0
        assert (found.needs == network.needs_of(found.choice)).all()


def two_layers():
    """Return a slow small and a fast large folding of each of two layers, and a converter where their widths differ."""
    layers = [
        LayerOptions(name, np.array([8, 4]), np.array([[10, 0, 0, 0, 1], [20, 0, 0, 0, 2]]))
        for name in ("a", "b")
    ]
    converter = np.zeros((2, 2, 5), np.int64)
    converter[0, 1, 0] = converter[1, 0, 0] = 25
    widths = np.arange(2)
    return Network(tuple(layers), (WidthLink(0, 1, widths, widths, converter),))


DEVICE = FpgaDevice("small", lut=100, ff=100, bram18=0, uram=0, dsp=10)


def test_a_converter_can_cost_more_than_a_larger_folding():
    layers = list(two_layers().layers)
    layers[1] = layers[1].kept(np.array([1]))  # the second can only be wide
    network = two_layers()
    link = WidthLink(0, 1, np.arange(2), np.array([1]), network.links[0].needs)
    found = choose(Network(tuple(layers), (link,)), budget_of(DEVICE), "resources")
    assert (found.choice, found.cost, found.gap) == ((1, 0), pytest.approx(0.4 + 0.4), 0)


@pytest.mark.parametrize(("use", "choice"), [(1.0, (1, 1)), (0.3, (0, 0))])
def test_a_share_of_a_device_is_what_may_be_used(use, choice):
    assert choose(two_layers(), budget_of(DEVICE, use)).choice == choice


def test_an_interval_that_no_folding_reaches_names_the_layer():
    found = choose(two_layers(), budget_of(DEVICE), interval=3)
    assert (found.choice, found.slowest, found.least) == (None, "a", 4)


def test_what_time_does_not_suffice_for_is_not_called_proven():
    found = Chosen((0,), "fps", 9, 8, None, None, np.zeros(5), 0.5, 0.4, 1.0)
    assert not found.proven and found.gap == pytest.approx(0.2)


def test_the_solver_is_imported_by_what_solves_only():
    import subprocess

    code = "import sys, brainsmith.rtl.fitting.solve; sys.exit('highspy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_solver_prints_nothing(capfd):
    choose(two_layers(), budget_of(DEVICE))
    assert capfd.readouterr() == ("", "")
