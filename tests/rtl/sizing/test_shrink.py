"""The search: what it ends with cannot be smaller, whatever decides; in real circuits, by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.rtl.sizing.adjustable import usual_capacities
from brainsmith.rtl.sizing.fifo_hardware import depth_of, held, next_smaller
from brainsmith.rtl.sizing.gauges import enough_frames, gauge
from brainsmith.rtl.sizing.shrink import Budget, BudgetSpentError, Rate, shrink
from brainsmith.rtl.sizing.sizing_runs import Runner
from brainsmith.rtl.verification.design_runs import random_frames

NAMES = ("a", "b", "c", "d")
vectors = st.fixed_dictionaries({name: st.integers(2, 700) for name in NAMES})
widths = st.fixed_dictionaries({name: st.sampled_from([8, 16, 40]) for name in NAMES})


def is_minimal(depths, bits, keeps):
    """Tell whether no depth can be the next smaller one."""
    smaller = {name: next_smaller(depth, bits[name]) for name, depth in depths.items()}
    return keeps(depths) and not any(keeps(depths | {name: one}) for name, one in smaller.items() if one)


def total(depths, bits):
    return sum(bits[name] * held(depth, bits[name]) for name, depth in depths.items())


@given(depths=vectors, needed=vectors, bits=widths)
def test_what_is_needed_is_found(depths, needed, bits):
    """With a need of its own for each FIFO there is one answer."""
    start = {name: max(depth, needed[name]) for name, depth in depths.items()}
    asked = []

    def keeps(found):
        asked.append(found)
        return all(held(depth, bits[name]) >= needed[name] for name, depth in found.items())

    done = shrink(start, bits, keeps)
    assert done.minimal
    assert done.depths == {name: depth_of(beats, bits[name]) for name, beats in needed.items()}
    assert len(asked) <= 14 * len(NAMES)  # one, halving 517 beats, and one more in each pass


def test_each_turn_says_how_many_fifos_it_has_looked_at(heard):
    needed = {"a": 40, "b": 2}

    def keeps(found):
        return all(held(depth, 8) >= needed[name] for name, depth in found.items())

    assert shrink({"a": 300, "b": 300}, {"a": 8, "b": 8}, keeps).minimal
    assert heard == [
        f"making FIFOs smaller, turn {turn}: {done} of 2 FIFOs" for turn in (1, 2) for done in (0, 1, 2)
    ]


@given(depths=vectors, bits=widths, random=st.randoms(use_true_random=False), data=st.data())
def test_the_end_is_minimal_whatever_decides(depths, bits, random, data):
    """Also where the rate does not grow with the depth: every answer is drawn, and kept."""
    start = {name: depth_of(depth, bits[name]) for name, depth in depths.items()}
    known = {tuple(start.values()): True}

    def keeps(found):
        return known.setdefault(tuple(found.values()), random.random() < 0.5)

    done = shrink(depths, bits, keeps, order=data.draw(st.permutations(NAMES)))
    assert done.minimal
    assert is_minimal(done.depths, bits, keeps)


@given(depths=vectors, bits=widths, limit=st.integers(0, 20))
def test_a_search_that_may_not_go_on_ends_with_what_it_has(depths, bits, limit):
    kept = []

    def keeps(found):
        if len(kept) == limit:
            raise BudgetSpentError
        kept.append(found)
        return True

    done = shrink(depths, bits, keeps)
    start = {name: depth_of(depth, bits[name]) for name, depth in depths.items()}
    assert done.depths == (kept[-1] if kept else start)
    assert done.minimal == (set(map(held, done.depths.values(), bits.values())) == {5})


class Circuit:
    def __init__(self, design):
        self.design = design
        self.bits = {link.name: link.bits for link in design.links if not link.weights}
        self.runner = Runner(design, random_frames(design), usual_capacities(design), quick=True)
        self.gauged = gauge(self.runner)
        self.rate = Rate(self.runner, self.gauged.depths, enough_frames(self.gauged.in_flight), Budget())


@pytest.fixture(scope="module")
def circuit(design, simulations):
    return Circuit(design)


@pytest.mark.slow
def test_the_fifos_of_a_circuit_cannot_be_smaller(circuit):
    done = shrink(circuit.gauged.depths, circuit.bits, circuit.rate)
    assert done.minimal
    assert is_minimal(done.depths, circuit.bits, circuit.rate)
    assert total(done.depths, circuit.bits) < total(circuit.gauged.depths, circuit.bits)
    assert sum(held(depth, 8) > 5 for depth in done.depths.values()) >= 1
    found = circuit.runner.run(200, done.depths)
    assert found.interval == circuit.design.interval
    assert circuit.runner.full(found) == ()


@pytest.mark.slow
def test_another_order_finds_hardly_less(circuit):
    """At most 10 % between any two of eight orders."""
    random = np.random.default_rng(1)
    orders = [list(random.permutation(list(circuit.bits))) for _ in range(7)]
    found = [shrink(circuit.gauged.depths, circuit.bits, circuit.rate, order) for order in [None, *orders]]
    assert all(is_minimal(done.depths, circuit.bits, circuit.rate) for done in found)
    bits = [total(done.depths, circuit.bits) for done in found]
    assert bits[0] <= 1.1 * min(bits)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
@pytest.mark.slow
def test_a_circuit_does_not_become_slower_with_deeper_fifos(circuit, data):
    small = data.draw(
        st.fixed_dictionaries({name: st.integers(5, depth) for name, depth in circuit.gauged.depths.items()})
    )
    large = {name: depth + data.draw(st.integers(0, 8)) for name, depth in small.items()}
    slow, fast = (circuit.runner.run(12, depths) for depths in (small, large))
    assert all(after <= before for before, after in zip(slow.ends, fast.ends, strict=True))


@pytest.mark.slow
def test_smaller_fifos_than_these_make_it_slower(circuit):
    least = dict.fromkeys(circuit.bits, 5)
    assert not circuit.rate(least)
    assert circuit.runner.run(12, least).interval > circuit.design.interval
