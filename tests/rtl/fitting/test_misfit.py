"""What a build says if nothing fits: of what there is too little, and what would do."""

import numpy as np

from brainsmith.rtl.devices.device import FpgaDevice, require_device
from brainsmith.rtl.fitting import misfit
from brainsmith.rtl.fitting.fit import Fit
from brainsmith.rtl.fitting.misfit import why_nothing_fits
from brainsmith.rtl.fitting.options import LayerOptions, Network, budget_of
from brainsmith.rtl.fitting.solve import choose

SMALL = require_device("xc7s6-ftgb196-1")  # 3,752 LUTs, 10 DSP slices


def network(*options):
    """Return a network of one layer; each option is its cycles, LUTs and DSP slices."""
    cycles, needs = zip(*((cycles, [lut, 0, 0, 0, dsp]) for cycles, lut, dsp in options), strict=True)
    return Network((LayerOptions("only_layer", np.array(cycles), np.array(needs)),))


def said(network, fit, clock_ns=10.0):
    interval = None if fit.fps is None else int(1e9 / (clock_ns * fit.fps))
    found = choose(network, budget_of(fit.device, fit.use), fit.goal, interval)
    return why_nothing_fits(network, found, fit, clock_ns).splitlines()


def test_what_is_lacking_is_said_and_the_rate_and_the_parts_that_would_do():
    options = network((1000, 1000, 1), (100, 6000, 30))
    assert said(options, Fit(SMALL, use=0.8, fps=1_000_000)) == [
        "no folding fits 80 % of xc7s6 at 1,000,000 frames per second: the one that comes nearest needs too much of LUT "
        "(6,000 of 3,001, 100 % more), DSP (30 of 8, 275 % more)",
        "  100,000 frames per second would fit",
        "  a larger part would do: xc7a12t, xc7a15t, xc7z007s",
    ]


def test_the_rest_of_the_device_may_be_enough():
    assert said(network((100, 3500, 0)), Fit(SMALL, use=0.8))[1] == "  all of the device would do: use: 100 %"


def test_what_no_part_has_needs_fewer_bits():
    device = FpgaDevice("xc7s6", lut=100, ff=100, bram18=0, uram=0, dsp=0, declared=True)
    lines = said(network((100, 10_000_000, 1)), Fit(device, use=1.0))
    assert lines[0].endswith("LUT (10,000,000 of 100, 9999900 % more), DSP (1 of 0, the device has none)")
    assert lines[1:] == ["  no larger part of the family would do: give weights and activations fewer bits"]


def test_a_share_that_is_less_than_one_is_not_called_none():
    text = said(network((100, 10, 1)), Fit(SMALL, use=0.05))[0]
    assert text.endswith("needs too much of DSP (1 of 0, 5 % of 10 is less than one)")


def test_a_rate_that_no_folding_reaches_names_the_layer():
    assert said(network((1000, 10, 0)), Fit(SMALL, fps=1_000_000)) == [
        "no folding reaches 1,000,000 frames per second: only_layer takes 1,000 cycles per frame at least, which is "
        "100,000 frames per second with a clock of 10 ns",
        "  lower at_least: {fps: ...}, or raise the clock",
    ]


def test_weights_that_would_do_are_said():
    found = choose(network((100, 10_000_000, 1)), budget_of(SMALL))
    text = why_nothing_fits(network((100, 10_000_000, 1)), found, Fit(SMALL, use=1.0), 10.0, bits=3)
    assert text.splitlines()[1:] == ["  weights of at most 3 bits would do"]


def test_what_time_was_too_short_for_is_no_answer(monkeypatch):
    asked = []
    monkeypatch.setattr(misfit, "fits", lambda *given: asked.append(given[-1]))
    lines = said(network((100, 10_000_000, 1)), Fit(SMALL, use=1.0))
    assert lines[1:] == [
        "  whether a larger part would do could not be found in 15 s: try xc7vx980t, xc7vx1140t, xc7v2000t"
    ]
    assert asked and max(asked) <= 2.0


def test_what_fits_a_part_fits_each_larger_one_without_asking(monkeypatch):
    asked = []

    def answered(network, budget, interval, seconds):
        asked.append(budget.limits.tolist())
        return len(asked) > 3

    monkeypatch.setattr(misfit, "fits", answered)
    lines = said(network((100, 10_000_000, 1)), Fit(SMALL, use=1.0))
    assert lines[1].startswith("  a larger part would do: ") and lines[1].count(",") == 2
    assert len({str(one) for one in asked}) == len(asked) <= 6
