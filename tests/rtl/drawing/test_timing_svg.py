"""A timing diagram: what is offered, what waits, what moves."""

import importlib.util
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

SCRIPT = Path(__file__).parents[3] / "docs" / "kernels" / "timing_svg.py"
SPEC = importlib.util.spec_from_file_location("timing_svg", SCRIPT)
timing_svg = importlib.util.module_from_spec(SPEC)
sys.modules["timing_svg"] = timing_svg
SPEC.loader.exec_module(timing_svg)
draw_timing = timing_svg.draw_timing
Signal = timing_svg.Signal

HELD = Signal("in0_V", (True, True, True, False), (False, True, True, True), ("5", "5", "-6", ""))


def shapes(svg, style):
    """Return the attributes of all elements of a class."""
    root = ElementTree.fromstring(svg)
    return [dict(one.attrib) for one in root.iter() if one.get("class") == style]


def test_it_is_an_svg_that_says_what_it_shows():
    root = ElementTree.fromstring(draw_timing("a_core", "One beat waits", [HELD]))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label") == "a_core: One beat waits"
    assert "prefers-color-scheme:dark" in "".join(root.itertext())


def test_a_beat_is_one_cell_from_its_offer_to_its_move():
    svg = draw_timing("a_core", "One beat waits", [HELD])
    cells = [re.match(r"M([\d.]+) .*H([\d.]+)l3", one["d"]).groups() for one in shapes(svg, "cell")]
    step = float(cells[1][0]) / 2
    assert cells == [("0", f"{2 * step - 3:g}"), (f"{2 * step:g}", f"{3 * step - 3:g}")]


def test_cycles_in_which_it_waits_are_told_from_that_in_which_it_moves():
    legend, held = shapes(draw_timing("a_core", "One beat waits", [HELD]), "blocked")
    moved = shapes(draw_timing("a_core", "One beat waits", [HELD]), "moved")
    assert legend["width"] == "22"
    assert float(held["x"]) == 0
    assert [float(one["x"]) for one in moved[1:]] == [float(held["width"]), 2 * float(held["width"])]


def test_equal_beats_behind_each_other_are_two():
    twice = Signal("x", (True, True), (True, True), ("3", "3"))
    assert len(shapes(draw_timing("a_core", "", [twice]), "cell")) == 2


def test_a_beat_that_never_moves_is_shown():
    stuck = Signal("x", (False, True, True), (True, False, False), ("", "7 1", "7 1"))
    svg = draw_timing("a_core", "", [stuck])
    assert len(shapes(svg, "moved")) == 1  # the legend's
    assert len(shapes(svg, "none")) == 1
    assert ">7 1</text>" in svg
