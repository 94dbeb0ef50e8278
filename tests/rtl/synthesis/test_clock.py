"""The clock by estimate, and its warnings: a target that is not met, and a slow core of this project."""

import pytest

from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.synthesis.clock import estimate_clock
from brainsmith.rtl.synthesis.slowest_path import SlowestPath
from brainsmith.rtl.synthesis.synthesis_report import LayerFigures, SynthesisReport


def path(ns):
    return SlowestPath(ns, 9, ["LUT6"] * 9, "a.sum[0]", "a.out[3]")


def report(whole, **layers):
    """A design whose layers have some slowest paths; FINN's matrix-vector unit takes 2 ns."""
    figures = tuple(
        LayerFigures(name, f"{name}_rtl", Resources(lut=9), None, 1.0, path(ns))
        for name, ns in layers.items()
    )
    return SynthesisReport(
        "part", "xcup", "yosys", Resources(lut=9), figures, (), (), 1.0, 9, path(whole), mvau_ns=2.0
    )


def test_a_design_that_is_fast_enough_has_no_warning():
    clock = estimate_clock(report(2.5, MVAU=2.5, Mine=1.9), 4.0, {"Mine"})
    assert (clock.fmax_mhz, clock.target_mhz, clock.to_mvau, clock.layer, clock.own) == (
        400,
        250,
        0.8,
        "MVAU",
        False,
    )
    assert clock.warnings == ()


def test_a_target_that_is_not_met_is_said_with_the_path():
    clock = estimate_clock(report(5.0, MVAU=5.0), 4.0, set())
    assert clock.warnings == (
        "the clock of 250 MHz is not reached by estimate: the slowest path takes 5.00 ns (200 MHz), with 9 levels of "
        "logic, from a.sum[0] to a.out[3], in layer MVAU (MVAU_rtl). It is no place and route, so it may be reached all "
        "the same; a slower clock in the blueprint (`target: {clock_ns: ...}`), or fewer values a cycle in that layer "
        "(step `fold`), are safe",
    )


def test_a_path_that_no_layer_has_alone_lies_between_layers():
    (warning,) = estimate_clock(report(5.0, MVAU=2.0), 4.0, set()).warnings
    assert "to a.out[3], between layers. It is" in warning


SLOW = (
    "the slowest path of the design is in a core of this project: LongSum (LongSum_rtl), with {} ns from a.sum[0] to "
    "a.out[3]; "
)
WHAT_TO_DO = (
    " by the same estimate. If the clock is not reached on the part, give that layer fewer values a cycle (step `fold`), "
    "or another backend (`kernels:` in the blueprint)"
)


@pytest.mark.parametrize("ns", [6.0, 1.95])  # slower than FINN's matrix-vector unit, and faster
def test_a_core_of_this_project_that_is_slower_than_all_others_is_said_although_the_clock_is_met(ns):
    clock = estimate_clock(
        report(ns, MVAU=1.9, Thresholding=1.2, Short=0.9, LongSum=ns), 10.0, {"LongSum", "Short"}
    )
    assert clock.own
    assert clock.warnings == (
        SLOW.format(f"{ns:.2f}") + "the slowest other layer, MVAU (MVAU_rtl), takes 1.90 ns" + WHAT_TO_DO,
    )


def test_a_design_of_this_projects_cores_alone_is_compared_with_finns_unit():
    own = {"LongSum", "Short"}
    clock = estimate_clock(report(2.1, LongSum=2.1, Short=1.5), 10.0, own)
    assert clock.warnings == (SLOW.format("2.10") + "FINN's matrix-vector unit takes 2.00 ns" + WHAT_TO_DO,)
    assert estimate_clock(report(2.0, LongSum=2.0, Short=1.5), 10.0, own).warnings == ()


@pytest.mark.parametrize(
    ("own", "whole", "ns"),
    [(set(), 6.0, 6.0), ({"LongSum"}, 1.8, 1.8), ({"LongSum"}, 1.8, 1.7), ({"LongSum"}, 4.5, 4.0)],
)  # of others; as fast as another; faster; a path between layers is slower than any layer
def test_what_does_not_keep_the_design_from_a_faster_clock_is_no_warning(own, whole, ns):
    assert estimate_clock(report(whole, MVAU=1.8, LongSum=ns), 10.0, own).warnings == ()


def test_a_design_without_a_path_has_no_clock():
    empty = SynthesisReport(
        "part", "xcup", "yosys", Resources(), (), (), (), 1.0, 9, SlowestPath(0.0, 0, [], "", "")
    )
    assert estimate_clock(empty, 4.0, set()) is None
