"""Designs with probes: which ends of which links are watched, and that a design without is as it was."""

from brainsmith.rtl.stitching.top_module import plan_design, probe_design, top_module
from tests.rtl.verification.branches import branches


def test_every_tensor_is_watched_where_it_begins_and_behind_its_fifo(library):
    probes = probe_design(branches(library, 2))
    assert [(probe.link.name, probe.side) for probe in probes] == [
        ("s_axis_0", "source"), ("slow", "source"), ("short", "source"), ("short", "target"),
        ("collected", "source"), ("sum", "source"),
    ]  # fmt: skip
    assert probes[3].stream.valid == "probe_short_target_valid"


def test_probes_are_outputs_and_nothing_else_differs(library):
    design = branches(library, 2)
    plain, probed = top_module(design), top_module(design, probes=True)
    assert "probe_" not in plain
    for probe in probe_design(design):
        for kind, bits in (("data", "[7:0] "), ("valid", ""), ("ready", "")):
            side = "from" if probe.side == "source" else "to"
            name = f"probe_{probe.link.name}_{probe.side}_{kind}"
            assert f"output {bits}{name}" in probed
            assert f"assign {name} = {probe.link.name}_{side}_{kind};" in probed
    without = [line for line in probed.splitlines() if "probe_" not in line]
    assert [line.rstrip(",") for line in without if line] == [
        line.rstrip(",") for line in plain.splitlines() if line
    ]
    assert plan_design(design).digest() != plan_design(design, probes=True).digest()


def test_weights_are_not_watched(mlp):
    watched = {probe.link.name for probe in probe_design(mlp.design)}
    assert watched == {link.name for link in mlp.design.links if not link.weights}
