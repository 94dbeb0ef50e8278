"""The picture of a frame's handshakes: each link, its runs in their places, its marks, and the words around."""

import re
import xml.etree.ElementTree as ET

import pytest

from brainsmith.rtl.drawing.handshakes_svg import PLOT, draw_handshakes, ordered

SVG = "{http://www.w3.org/2000/svg}"
HEADING = ("finn_design", 5.0)


def link(name, source, target, beats, **runs):
    shown = {"moved": [], "blocked": [], "starved": [], **runs}
    return {"name": name, "source": source, "target": target, "bits": 8, "depth": 0, "beats": beats, **shown}


def frame(*links, cycles=540, interval=512):
    return {"frame": 3, "first_cycle": 1536, "cycles": cycles, "interval": interval, "links": list(links)}


FRAME = frame(
    link("out", "b.out0_V", "m_axis_0", [400, 539], moved=[[400, 401], [539, 540]], starved=[[0, 400]]),
    link("in", "s_axis_0", "a.in0_V", [0, 99], moved=[[0, 100]]),
    link("mid", "a.out0_V", "b.in0_V", [50, 60], moved=[[50, 61]], blocked=[[100, 370]])
    | {"depth": 1024, "bits": 72},
)


def drawn(found=FRAME, **more):
    return ET.fromstring(draw_handshakes(found, *HEADING, **more))


def rows(root):
    return {g.get("data-link"): g for g in root.iter(f"{SVG}g") if g.get("class") == "row"}


def texts(element):
    return [text.text for text in element.iter(f"{SVG}text")]


def area(row, style):
    """The x of the corners of an area."""
    (path,) = [p.get("d") for p in row.iter(f"{SVG}path") if p.get("class") == style]
    return [float(x) for x in re.findall(r"[MH]([\d.]+)", path)]


def test_inputs_are_on_top_and_outputs_at_the_bottom():
    assert list(rows(drawn())) == ["in", "mid", "out"]
    assert [found["name"] for found in ordered(FRAME["links"])] == ["in", "mid", "out"]


def test_runs_lie_where_their_cycles_are():
    found, cycle = rows(drawn()), PLOT / 540
    assert area(found["in"], "moved") == [0, 100 * cycle]
    assert area(found["mid"], "moved") == [50 * cycle, 61 * cycle]
    assert area(found["mid"], "blocked") == [100 * cycle, 370 * cycle]
    assert area(found["out"], "starved") == [0, 400 * cycle]
    assert area(found["out"], "moved") == [400 * cycle, 401 * cycle, 539 * cycle, PLOT]
    shaded = [r for r in found["mid"].iter(f"{SVG}rect") if r.get("class") == "frame"]
    assert [(float(r.get("x")), float(r.get("width"))) for r in shaded] == [(50 * cycle, 11 * cycle)]


def test_rows_say_what_they_are():
    found = rows(drawn())
    assert texts(found["mid"])[:2] == ["a", "to b, 72 bit, FIFO 1,024"]
    assert texts(found["in"])[:2] == ["s_axis_0", "to a, 8 bit"]
    assert found["mid"].find(f"{SVG}title").text == (
        "mid, a.out0_V to b.in0_V: moved in 11 cycles, blocked in 270 cycles, starved in 0 cycles"
    )


def test_the_first_and_last_beat_are_marked_with_their_cycles():
    marks = {
        name: {text.get("class"): text.text for text in row.iter(f"{SVG}text") if "mark" in text.get("class")}
        for name, row in rows(drawn()).items()
    }
    assert marks["mid"] == {"mark first": "50", "mark last": "60"}
    assert marks["out"] == {"mark first": "400", "mark last": "539"}
    close = rows(drawn())["mid"]
    anchors = [t.get("text-anchor") for t in close.iter(f"{SVG}text") if "mark" in t.get("class")]
    assert anchors == ["end", "start"]  # outside of marks that are too close


def test_two_numbers_at_the_pictures_edge_stand_below_each_other():
    found = frame(
        link("late", "a.out0_V", "b.in0_V", [536, 538]), link("early", "b.out0_V", "m_axis_0", [1, 3])
    )
    for name, row in rows(drawn(found)).items():
        heights = [t.get("y") for t in row.iter(f"{SVG}text") if "mark" in t.get("class")]
        assert heights == ["13", "26"], name
    heights = [t.get("y") for t in rows(drawn())["mid"].iter(f"{SVG}text") if "mark" in t.get("class")]
    assert heights == ["13", "13"]


def test_latency_interval_clock_and_legend_are_there():
    words = texts(drawn())
    for said in [
        "finn_design, handshakes of frame 3",
        "540 cycles from its first beat in to its last beat out at 200 MHz (5 ns a cycle). It began in cycle 1,536 "
        "after the reset; inputs come at the estimated rate.",
        "latency at this rate 540 cycles = 2.7 µs",
        "interval 512 cycles = 390,625 frames a second",
        "a beat moved",
        "blocked: valid, not ready",
        "starved: ready, not valid",
    ]:
        assert said in words
    ticks = [texts(g)[0] for g in drawn().iter(f"{SVG}g") if g.get("class") == "tick"]
    assert ticks == ["0", "50", "100", "150", "200", "250", "300", "350", "400", "450", "500"]


def test_without_a_clock_or_a_following_frame():
    words = texts(ET.fromstring(draw_handshakes(frame(*FRAME["links"], interval=None), "d")))
    assert "latency at this rate 540 cycles" in words
    assert not [text for text in words if "interval" in text or "MHz" in text]


def test_some_links_and_some_cycles():
    root = drawn(links=["mid"], window=(55, 65))
    found = rows(root)
    assert list(found) == ["mid"]
    assert area(found["mid"], "moved") == [0, 6 * PLOT / 10]
    assert [t.get("class") for t in found["mid"].iter(f"{SVG}text") if "mark" in t.get("class")] == [
        "mark last"
    ]
    assert any(text.endswith("Shown: cycles 55 to 65.") for text in texts(root))
    assert not [
        p for p in root.iter(f"{SVG}path") if p.get("marker-end")
    ]  # both spans lead out of the window


@pytest.mark.parametrize("cycles", [1, 7, 512, 37_000])
def test_frames_of_any_length_fit(cycles):
    busy = [[at, at + 1] for at in range(0, cycles, 2)]
    content = draw_handshakes(
        frame(link("in", "s_axis_0", "m_axis_0", [0, cycles - 1], moved=busy), cycles=cycles), *HEADING
    )
    assert len(content) < 60_000
    xs = area(rows(ET.fromstring(content))["in"], "moved")
    assert min(xs) == 0
    assert max(xs) <= PLOT


def test_a_beat_before_the_frame_has_no_mark():
    """A layer that pads gives its first beat before it has one."""
    row = rows(drawn(frame(link("in", "s_axis_0", "m_axis_0", [-41, 200]))))["in"]
    assert [t.text for t in row.iter(f"{SVG}text") if "mark" in t.get("class")] == ["200"]
    (shaded,) = [r for r in row.iter(f"{SVG}rect") if r.get("class") == "frame"]
    assert float(shaded.get("x")) == 0


def test_odd_names_do_nothing():
    evil = "</title><script>alert(1)</script>&\"'\x00"
    found = frame(link(evil, f"{evil}.out0_V", "m_axis_0", [0, 1]))
    root = ET.fromstring(draw_handshakes(found, evil))
    assert [item.tag for item in root.iter() if "script" in item.tag] == []
    assert list(rows(root)) == [evil.replace("\x00", "\ufffd")]


def test_fills_are_told_apart_without_colour():
    root = drawn()
    patterns = {p.get("id"): len(list(p)) for p in root.iter(f"{SVG}pattern")}
    assert patterns == {"blocked": 2, "starved": 3}
    style = root.find(f"{SVG}style").text
    assert ".blocked{fill:url(#blocked)}" in style
    assert ".starved{fill:url(#starved)}" in style
