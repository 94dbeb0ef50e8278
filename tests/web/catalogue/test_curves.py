"""Curves of what a layer needs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.web.catalogue.curves import constant_figures, curve_charts, decades, figure_table, nice_ticks
from brainsmith.web.catalogue.data_sheet import FIGURES, DataSheet
from tests.web.pages import Page


def sheet(*points, attributes=("SIMD", "PE")):
    whole = [{**dict.fromkeys(FIGURES, 0), **dict.fromkeys(attributes, 1), **point} for point in points]
    return DataSheet("a case", attributes, tuple(whole), "")


TWO_BY_TWO = sheet(
    {"SIMD": 1, "PE": 1, "cycles": 4096, "lut": 100, "dsp": 3},
    {"SIMD": 4, "PE": 1, "cycles": 1024, "lut": 250, "dsp": 3},
    {"SIMD": 1, "PE": 2, "cycles": 64, "lut": 150, "dsp": 3},
    {"SIMD": 4, "PE": 2, "cycles": 32, "lut": 400, "dsp": 3},
)


def test_there_is_a_chart_of_each_figure_that_varies_and_a_line_of_each_further_attribute():
    page = Page("".join(curve_charts(TWO_BY_TWO)))
    assert page.problems == []
    assert [a["aria-label"] for a in page.all("svg")] == [
        "Cycles of a frame over SIMD: with PE 1 4,096 at SIMD 1, 1,024 at 4; with PE 2 64 at SIMD 1, 32 at 4",
        "LUT over SIMD: with PE 1 100 at SIMD 1, 250 at 4; with PE 2 150 at SIMD 1, 400 at 4",
    ]
    assert [a["class"] for a in page.all("g")] == ["line-0", "line-1"] * 2
    assert page.text.startswith("PE 1 PE 2 Cycles of a frame 10 100 1,000 10k 1 4 SIMD")
    assert constant_figures(TWO_BY_TWO) == "The same for each: DSP slices: 3."


def test_a_line_lies_where_its_values_are():
    charts = "".join(
        curve_charts(sheet({"SIMD": 1, "lut": 100}, {"SIMD": 2, "lut": 0}, {"SIMD": 4, "lut": 50}))
    )
    (path,) = re.findall(r'<path d="([^"]*)"', charts)
    (left, top), (middle, bottom), (right, between) = (map(float, at.split()) for at in path[1:].split("L"))
    assert right - middle == pytest.approx(middle - left)
    assert between - top == pytest.approx(bottom - between)
    assert "<title>SIMD 2: 0</title>" in charts.replace(", PE 1", "")


def test_one_point_is_no_curve_and_every_figure_is_in_the_table():
    one = sheet({"lut": 7})
    assert curve_charts(one) == []
    assert constant_figures(one) == ""
    assert curve_charts(sheet({"lut": 7}, {"lut": 8}, attributes=())) == []
    page = Page(figure_table(TWO_BY_TWO))
    assert page.text.endswith("SIMD PE Cycles of a frame LUT DSP slices "
        "1 1 4,096 100 3 4 1 1,024 250 3 1 2 64 150 3 4 2 32 400 3")  # fmt: skip


@given(st.integers(0, 10**14))
def test_ticks_are_few_whole_and_reach_the_greatest_value(most):
    ticks = nice_ticks(most)
    assert ticks[0] == 0 and ticks[-1] >= most * 0.999
    assert 2 <= len(ticks) <= 6 and all(tick == round(tick) for tick in ticks)


@given(st.integers(1, 10**14), st.integers(1, 10**14))
def test_decades_enclose_all_values(one, other):
    low, high = sorted((one, other))
    found = decades(low, high)
    assert found[0] <= low and found[-1] >= high
