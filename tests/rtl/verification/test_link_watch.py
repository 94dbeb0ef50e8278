"""Designs with probes: which ends of which links are watched, and that they run as the design without does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.top_module import plan_design, probe_design, switch_design, top_module
from brainsmith.rtl.verification.design_runs import design_beats
from brainsmith.rtl.verification.layers import take_apart
from brainsmith.rtl.verification.link_watch import build_apart, build_watched
from tests.rtl.verification.branches import branches


def test_every_tensor_is_watched_where_it_begins_and_behind_its_fifo(library):
    probes = probe_design(branches(library, 2))
    assert [(probe.link.name, probe.side) for probe in probes] == [
        ("s_axis_0", "source"), ("slow", "source"), ("short", "source"), ("short", "target"),
        ("collected", "source"), ("sum", "source"),
    ]  # fmt: skip
    assert probes[3].stream.valid == "probe_short_target_valid"


def test_probes_are_outputs_and_a_design_without_has_no_switches(library):
    design = branches(library, 2)
    plain, probed = top_module(design), top_module(design, probes=True)
    assert "probe_" not in plain
    for probe in probe_design(design):
        for kind, bits in (("data", "[7:0] "), ("valid", ""), ("ready", "")):
            side = "from" if probe.side == "source" else "to"
            name = f"probe_{probe.link.name}_{probe.side}_{kind}"
            assert f"output {bits}{name}" in probed
            assert f"assign {name} = {probe.link.name}_{side}_{kind};" in probed
    assert "apart" not in plain
    assert plan_design(design).digest() != plan_design(design, probes=True).digest()


def test_weights_are_not_watched(mlp):
    watched = {probe.link.name for probe in probe_design(mlp.design)}
    assert watched == {link.name for link in mlp.design.links if not link.weights}


def test_a_switch_has_the_streams_of_the_design_taken_apart(library):
    design = branches(library, 2)
    apart = take_apart(design)
    named = {switch.stream.name: switch for switch in switch_design(design)}
    assert set(named) == {stream.name for stream in (*apart.inputs, *apart.outputs)}
    assert {name for name, switch in named.items() if switch.side == "target"} == {
        stream.name for stream in apart.inputs
    }
    assert named["short_given"].stream.data == "probe_short_source_data"
    assert named["short_fed"].stream.ready == "fed_short_ready"


def _moved(simulator, design, golden, seed, chance):
    """Run a design with random stalls, and return the beats of each stream with the cycle of each."""
    _, words, counts = design_beats(design, golden)
    streams = [stream.name for stream in (*design.inputs, *design.outputs)]
    stalls = {name: Stalls.random(seed + at, chance) for at, name in enumerate(streams)}
    result = simulator.run(words, counts, stalls=stalls, limit=20_000)
    return result.cycles, {
        name: (traffic.words.tolist(), traffic.moved_at.tolist()) for name, traffic in result.streams.items()
    }


@pytest.mark.slow
@given(data=st.data())
def test_with_probes_a_design_and_its_layers_move_the_same_beats_in_the_same_cycles(
    library, simulations, data
):
    """The law of the switches: the whole is as without them, and the layers are as in a simulation of their own."""
    design = branches(library, 18)
    apart = take_apart(design)
    frames = np.array(
        data.draw(st.lists(st.lists(st.integers(0, 127), min_size=16, max_size=16), min_size=2, max_size=3))
    )
    frames[0, :2] = 0, 1
    golden = dict.fromkeys("xabc", frames) | {"y": 2 * frames}
    seed, chance = data.draw(st.integers(0, 1 << 20)), data.draw(st.floats(0, 0.8))
    for one, built in ((design, build_watched), (apart, build_apart)):
        alone = build_simulator(plan_design(one), quick=True)
        switched = built(design, quick=True)
        assert _moved(switched, one, golden, seed, chance) == _moved(alone, one, golden, seed, chance)
