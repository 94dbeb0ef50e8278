"""The sections of the circuit and its synthesis: whole, partial, absent, hostile."""

import copy
import re
import xml.etree.ElementTree as ET

import pytest

from brainsmith.markup import tag
from brainsmith.web.circuit import circuit_section
from brainsmith.web.page import page
from brainsmith.web.synthesis import synthesis_section

from .circuits import RTL, SYNTHESIS
from .pages import Page
from .test_page import drawings, poison, whole


@pytest.fixture
def synthesised(report):
    """The report of a build that went all the way."""
    rate = {**report["rate"], "fps": 1e9 / (RTL["interval_cycles"] * 5.0), "measured": True}
    return {**report, "rtl": copy.deepcopy(RTL), "synthesis": copy.deepcopy(SYNTHESIS), "rate": rate}


def diagrams(document):
    return [drawing for drawing in drawings(document) if 'aria-label="Block diagram"' in drawing]


def test_the_circuit_is_on_the_page(synthesised):
    text = whole(synthesised).text
    for words in [
        "finn_design: 2 layers, 1 weight memory.",
        "without stalls 360 0 never never",
        "with random stalls 1,080 0 90,123 (31 %) 81,234 (29 %)",
        "Each of the 2 layers was also simulated alone: 0 of 512 values differ. The circuit's accuracy is 97.22 %.",
        "The simulation ran 1,234,568 cycles per second.",
        "Interval from one frame to the next 784.25 784 1.000 3.92 µs",
        "Latency of one frame alone 1,250 1,184 1.056 6.25 µs",
        "1 Thresholding_rtl_0 MVAU_rtl_0 32 7 9 224",
        "2 s_axis_0 Thresholding_rtl_0 8 2 – 16",
        "All FIFOs 240",
        "With the gauges as depths, all FIFOs together would hold 288 bits. "
        "12 simulations showed that no single FIFO can be made smaller.",
    ]:
        assert words in text


@pytest.mark.parametrize(
    ("unsettled", "words"),
    [
        (
            [],
            "The gauges were read of 4 layers, each simulated alone until it repeated: they hold for any number of frames.",
        ),
        (
            ["MVAU_rtl_0"],
            "The gauges were read of 4 layers, each simulated alone until it repeated, but for MVAU_rtl_0, whose state did "
            "not return: there they hold for the frames that were simulated.",
        ),
    ],
    ids=["all repeat", "one never does"],
)
def test_how_long_layers_were_gauged_alone_is_on_the_page(synthesised, unsettled, words):
    synthesised["rtl"]["sizing"] |= {"layers_alone": 4, "unsettled": unsettled}
    assert words in whole(synthesised).text


def test_the_synthesis_is_on_the_page(synthesised):
    text = whole(synthesised).text
    for words in [
        "2 layers synthesised by Yosys 0.70 for the family xcup in 9.00 s, each alone, without place and route",
        "# Layer LUT estimate LUTRAM FF estimate BRAM18 estimate URAM estimate DSP estimate Levels MHz Time",
        "1 MVAU_rtl_0 810 – 0 1,239 1,301 (+5.0 %) 0 11 0 – 8 16 (+100.0 %) 5 400 7.20 s",
        "All layers 1,310 – 64 1,338 1,301 (-2.8 %) 3 11 (+266.7 %) 2 – 8 16 (+100.0 %)",
        "All FIFOs 9 – 8 7 – 0 – 0 – 0 –",
        "Whole design 4,312 – 64 5,120 – 3 – 2 – 8 – 6 356",
        "By estimate the design reaches 356 MHz (200 MHz are asked for), 0.75 times that of FINN's matrix-vector unit. "
        "Its slowest path has 6 levels of logic, from MVAU_rtl_0.a[0] to MVAU_rtl_0.b[1].",
        "a shallow FIFO counts as flip-flops",
        "Placed and routed on ecp5-85k the design reaches 61.4 MHz, with 5,210 LUTs of four inputs, 4,821 flip-flops, 6 "
        "block RAMs, 12 multipliers. This does not predict the clock on the part that it was built for.",
        "The estimate of a layer includes the memory of its weights, which has a row of its own here.",
    ]:
        assert words in text


def test_estimates_are_added_up_only_where_each_layer_has_one(synthesised):
    other = {**synthesised["synthesis"]["layers"][0], "name": "MVAU_rtl_1"}
    synthesised["synthesis"]["layers"].append({**other, "estimate": {"lut": 5, "bram18": None, "dsp": 4}})
    assert "All layers 2,120 – 64 2,577 – 3 – 2 – 16 20 (+25.0 %)" in whole(synthesised).text


def test_a_design_that_was_not_placed_has_no_clock(synthesised):
    synthesised["synthesis"]["place"] = None
    assert "Placed and routed" not in whole(synthesised).text


def test_the_block_diagram_shows_every_link_and_its_layers_lead_to_the_table(synthesised):
    (found,) = diagrams(page(synthesised))
    drawing = ET.fromstring(found)
    links = [g.get("data-link") for g in drawing.iter("g") if g.get("class") == "link"]
    assert links == [link["name"] for link in RTL["design"]["links"]]
    assert [a.get("href") for a in drawing.iter("a")] == ["#layer-0", "#layer-1"]


def test_measured_and_synthesised_figures_take_the_place_of_estimates_in_the_summary(synthesised):
    text = whole(synthesised).text
    for words in [
        "Mismatches 0 of the circuit's 360 frames, and of 1,080 with stalls",
        "FPS 255,021 measured; target 100,000: met",
        "Interval 784 cycles, simulated; estimated 784",
        "Latency 6.25 µs 1,250 cycles, simulated; estimated 1,184",
        "LUT 4,312 look-up tables, synthesised; estimated 7,380",
        "BRAM 3 block RAMs of 18 Kb, synthesised; estimated 14",
        "DSP 8 multipliers, synthesised; estimated 18",
        "The circuit equals the model, bit for bit, on 360 frames, and on 1,080 with stalls.",
    ]:
        assert words in text


def test_a_circuit_that_differs_is_a_bad_verdict(synthesised):
    synthesised["rtl"] |= {"mismatches": 1, "stalled_mismatches": 2}
    parsed = whole(synthesised)
    assert parsed.all("div", **{"class": "verdict bad"})
    said = "Mismatches The circuit does not compute what the model does: 3 of 1,440 frames differ."
    assert said in parsed.text
    assert len(parsed.all("span", **{"class": "state bad"})) == 2


def test_what_is_absent_is_said(report, synthesised):
    text = whole(report).text
    assert "The build made no circuit: its output was estimates only, or it ended earlier." in text
    assert "The circuit was not synthesised" in text
    synthesised["rtl"] |= {
        "frames": None,
        "interval_cycles": None,
        "latency_cycles": None,
        "fifos": [],
        "design": None,
    }
    text = whole(synthesised).text
    for words in [
        "The circuit was not simulated.",
        "The design has no FIFOs.",
        "The report does not hold the design, so it cannot be drawn.",
        "Interval 784 cycles, set by MVAU_rtl_0",
    ]:
        assert words in text


def test_a_circuit_in_parts_is_said_with_what_that_does_not_show(synthesised):
    layer = {"name": "MVAU_rtl_0", "values": 256, "wrong": 0, "cycles": 790, "estimate": 784}
    synthesised["rtl"] |= {
        "frames": None,
        "layers": [layer],
        "parts": {"text": "each of 1 layer alone", "whole": "a frame takes 2 h", "uncovered": ["the rate"]},
    }
    text = whole(synthesised).text
    said = "In parts: each of 1 layer alone. The whole was not simulated: a frame takes 2 h. Not covered: the rate."
    assert said in text
    assert "The circuit was simulated in parts: each of 1 layer alone." in text


def test_an_interval_that_was_not_measured_is_the_estimate(synthesised):
    synthesised["rtl"] |= {"frames": 1, "interval_cycles": None}
    text = whole(synthesised).text
    assert "Interval 784 cycles, estimated; not measured with one frame" in text


def test_random_frames_are_said(synthesised):
    synthesised["rtl"]["random"] = True
    assert "The frames were random: the build had no golden inputs." in whole(synthesised).text


def test_links_that_cannot_be_drawn_are_said(synthesised):
    synthesised["rtl"]["design"]["links"][0]["target"] = "nowhere.in0_V"
    assert "estimated cycles per frame; 1 link of absent layers left out" in whole(synthesised).text


def test_hostile_texts_are_shown_and_do_nothing(synthesised):
    clean, hostile = whole(synthesised), whole(poison(synthesised))
    assert [tag for tag, _ in hostile.elements if tag in {"script", "img"}] == ["script", "script"]
    assert "onerror" not in {name for _, attributes in hostile.elements for name in attributes}
    assert len(hostile.all("table")) == len(clean.all("table"))
    for drawing in drawings(page(poison(synthesised))):
        ET.fromstring(drawing)


LINK = ("name", "source", "target", "bits", "depth", "tensor", "kernel", "module", "cycles")


OTHERS = [pytest.param(value, marks=pytest.mark.slow) for value in (1, "text", True, float("nan"))]


@pytest.mark.slow
@pytest.mark.parametrize("value", [[1, None, "x", [], {}], {"a": 1}, 10**400, *OTHERS])
def test_values_of_wrong_kinds_are_shown_as_absent(value):
    def shown(rtl=RTL, synthesis=SYNTHESIS):
        sections = tag("div", circuit_section(rtl, (), 5.0), synthesis_section(synthesis))
        assert Page(sections).problems == []

    shown(value, value)
    for key in RTL:
        shown(rtl={**RTL, key: value})
    for key in SYNTHESIS:
        shown(synthesis={**SYNTHESIS, key: value})
    for key in RTL["design"]:
        for odd in (value, [dict.fromkeys(LINK, value)]):
            shown(rtl={**RTL, "design": {**RTL["design"], key: odd}})


def test_sections_stand_in_the_contents(synthesised):
    links = [a["href"] for a in whole(synthesised).all("a")]
    assert links.index("#circuit") < links.index("#synthesis") < links.index("#plugins")
    assert re.search(r'<section id="circuit"', page(synthesised))
