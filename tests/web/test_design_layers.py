"""The layers of the page: those that were estimated, the circuit's width converters, and the synthesis' figures."""

import copy

import pytest

from brainsmith.web.design_layers import read_fifos, read_layers

from .circuits import RTL, SYNTHESIS, link
from .test_page import whole

CONVERTER = "StreamingDataWidthConverter_rtl_0"


@pytest.fixture
def converted(report):
    """The report of a synthesised circuit of two layers with a width converter between them."""
    made = copy.deepcopy({"rtl": RTL, "synthesis": SYNTHESIS})
    design = made["rtl"]["design"]
    design["layers"].insert(
        1, {"name": CONVERTER, "kernel": "StreamingDataWidthConverter_rtl", "module": "C0", "cycles": 0}
    )
    design["links"][1]["target"] = f"{CONVERTER}.in0_V"
    design["links"].append(link(f"{CONVERTER}.out0_V", "MVAU_rtl_0.in0_V", 64, 2, "t"))
    made["synthesis"]["layers"].append({"name": CONVERTER, "lut": 34, "bram18": 0, "uram": 0, "dsp": 0})
    return {**report, "layers": report["layers"][:2], **made}


def test_a_width_converter_is_a_layer_in_the_order_of_the_circuit(converted):
    found = read_layers(converted)
    assert [(layer.index, layer.name, layer.op_type, layer.backend, layer.cycles) for layer in found] == [
        (0, "Thresholding_rtl_0", "Thresholding_rtl", "rtl", 16),
        (1, CONVERTER, "StreamingDataWidthConverter_rtl", "rtl", None),
        (2, "MVAU_rtl_0", "MVAU_rtl", "rtl", 784),
    ]


def test_figures_of_a_synthesis_take_the_place_of_estimates_which_stay_beside_them(converted):
    found = read_layers(converted)
    assert [(layer.resources["lut"], layer.estimates["lut"]) for layer in found] == [
        (None, 1200),
        (34, None),
        (810, 5230),
    ]
    assert all(layer.synthesised for layer in found)
    del converted["synthesis"]
    assert [(layer.resources["lut"], layer.synthesised) for layer in read_layers(converted)] == [
        (1200, False),
        (None, False),
        (5230, False),
    ]


def test_a_converter_is_in_the_charts_the_table_and_the_diagram(converted):
    parsed = whole(converted)
    for words in [
        "3 hardware layers, 1 of them a width converter; MVAU_rtl_0 sets the rate with 784 cycles per frame. "
        "Resources were counted by the synthesis",
        "look-up tables, synthesised: at least 853 in all, each part alone; in brackets the estimate, 6,430",
        f"{CONVERTER} 34",
        "MVAU_rtl_0 810 (5,230)",
        "All FIFOs 9",
        "All layers ≥ 844 ≥ 1,239 ≥ 0 ≥ 8 ≥ 0",
        f"2 {CONVERTER} StreamingDataWidthConverter_rtl rtl – – – 34 – 0 0 0 –",
    ]:
        assert words in parsed.text
    assert parsed.all("tr", id="layer-1")
    links = [a for a in parsed.all("a") if a["href"] == "#layer-1"]
    assert len(links) == 3 + 1  # charts, and the diagram


def test_a_converter_that_was_not_synthesised_has_no_memory_and_no_multiplier(converted):
    del converted["synthesis"]
    words = whole(converted).text
    assert "multipliers, estimated: 16 in all" in words
    assert "look-up tables, estimated: at least 6,430 in all" in words
    assert "All layers ≥ 6,430 ≥ 0 13 16 0" in words


def test_layers_of_a_build_without_estimates_are_those_of_its_circuit(converted):
    converted["layers"] = []
    assert [layer.name for layer in read_layers(converted)] == ["Thresholding_rtl_0", CONVERTER, "MVAU_rtl_0"]


def test_layers_that_the_circuit_does_not_have_stay(report):
    report["rtl"] = RTL
    assert [layer.name for layer in read_layers(report)] == [layer["name"] for layer in report["layers"]]


def test_fifos_are_synthesised_or_else_estimated(report):
    assert read_fifos(report) == ({}, {})
    counted = {"lut": 9, "ff": 7, "bram18": 0, "dsp": 0, "uram": 0}
    foretold = {"lut": 8, "ff": 7, "bram18": 0, "dsp": 0, "uram": 0}
    assert read_fifos({"synthesis": SYNTHESIS}).used == counted
    assert read_fifos({"estimate": {"fifos": foretold}}).used == foretold
    both = read_fifos({"synthesis": SYNTHESIS, "estimate": {"fifos": foretold}})
    assert (both.used, both.estimates) == (counted, foretold)
