"""The whole design beside the sum of its parts: what differs is said, and what got lost is refused."""

from dataclasses import replace

import pytest

from brainsmith.errors import BuildError
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.notes import notes_on
from brainsmith.rtl.synthesis.synthesis_checks import check_whole
from brainsmith.rtl.synthesis.synthesis_report import Estimate, FifoFigures, LayerFigures, SynthesisReport

PART = "xczu7ev-ffvc1156-2-e"


def report(whole, layer, fifo=None):
    """Return what a design of one layer, and one FIFO, needs."""
    layers = (LayerFigures("MVAU_rtl_0", "MVAU_rtl", layer, None, 1.0),)
    fifos = (FifoFigures("stream_0", 8, 64, fifo or Resources()),)
    return SynthesisReport(PART, "xcup", "pyosys", whole, layers, fifos, (), 1.0, 100)


def sums(found):
    notes = tuple(notes_on(found, family_of(PART), {}))
    return [note for note in notes if note.startswith("Layers and FIFOs synthesised alone")]


def test_what_adds_up_needs_no_note():
    parts = Resources(lut=900, ff=400, bram18=2, dsp=8, uram=1)
    assert (
        sums(
            report(Resources(lut=1000, ff=404, bram18=3, dsp=8, uram=1), parts, Resources(lut=100, bram18=1))
        )
        == []
    )


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (Resources(100, 0, 100, 2, 8, 1), "1 URAM instead of 0"),
        (Resources(100, 0, 100, 3, 8, 0), "3 BRAM18 instead of 2"),
        (Resources(100, 0, 100, 2, 9, 0), "9 DSP instead of 8"),
        (Resources(120, 0, 80, 2, 8, 0), "120 LUTs instead of 100 and 80 flip-flops instead of 100"),
        (
            Resources(1200, 0, 100, 0, 4, 0),
            "1,200 LUTs instead of 100, 0 BRAM18 instead of 2 and 4 DSP instead of 8",
        ),
    ],
)
def test_each_resource_that_differs_is_named(parts, said):
    assert sums(report(Resources(100, 0, 100, 2, 8, 0), parts)) == [
        f"Layers and FIFOs synthesised alone add up to {said} of the whole design"
    ]


def test_what_the_figures_hold_and_lack_is_said():
    found = report(Resources(lut=100), Resources(lut=100))
    (layer,) = found.layers
    found = replace(found, layers=(replace(layer, estimate=Estimate(None, 1, 8)),))
    family = family_of(PART)
    assert tuple(notes_on(found, family, {"SRL16E": 3, "SRLC32E": 2, "FDRE": 9})) == (
        *family.notes,
        "Synthesis without place and route: LUTs are counted one by one, where Vivado packs pairs of small ones into one "
        "LUT6, so it needs fewer",
        "The clock is estimated from the mapped logic, with typical delays of cells and wires: it ranks layers and tells "
        "what is far too slow, and place and route decide. Power is not estimated",
        "5 LUTs are shift registers (SRL16E, SRLC32E), in FIFOs of up to 33 beats and in the layers' output queues. Yosys "
        "alone counts those with a variable tap as flip-flops, one per bit and stage, and a multiplexer",
        "there is no estimate of LUTs for MVAU_rtl_0",
    )


def test_slices_that_got_lost_in_the_whole_design_are_refused():
    with pytest.raises(BuildError) as caught:
        check_whole(report(Resources(lut=100), Resources(lut=100, dsp=8)))
    assert str(caught.value) == (
        "the whole design was synthesised without a DSP slice, but its layers have 8 alone: they got lost, so the "
        "figures are wrong\n  please report this with the design's sources"
    )
    check_whole(report(Resources(dsp=7), Resources(dsp=8)))
    check_whole(report(Resources(lut=100), Resources(lut=100)))


def test_estimates_are_beside_what_was_counted_with_the_error():
    found = report(Resources(lut=1000, ff=500, dsp=8), Resources(lut=900, ff=400, dsp=8), Resources(lut=50))
    (layer,), (fifo,) = found.layers, found.fifos
    estimated = replace(
        found,
        layers=(replace(layer, estimate=Estimate(990, 0, 8, 380, 0)),),
        fifos=(replace(fifo, estimate=Estimate(50, 0, 0, 20, 0)),),
    ).to_plain()
    assert estimated["layers"][0]["error"] == {"lut": 0.1, "ff": -0.05}
    assert estimated["fifos"][0]["error"] == {"lut": 0.0, "ff": None}
    assert estimated["estimate"] == {"lut": 1040, "bram18": 0, "dsp": 8, "ff": 400, "uram": 0}
    assert estimated["error"] == {"lut": 0.04, "ff": -0.2}
    assert set(found.to_plain()["estimate"].values()) == {None}
