"""The picture of a front: well formed, with a curve for each resource of which something is taken."""

import xml.etree.ElementTree as ET

from brainsmith.rtl.drawing.front_svg import HIGH, WIDE, draw_front

NAME = "{http://www.w3.org/2000/svg}"
AVAILABLE = {"lut": 1000, "ff": 2000, "bram18": 10, "uram": 0, "dsp": 20}


def point(interval, lut, bram18, dsp):
    needs = {"lut": lut, "ff": 5, "bram18": bram18, "uram": 0, "dsp": dsp}
    cost = lut / 1000 + bram18 / 10 + dsp / 20
    return {"interval_cycles": interval, "cost": cost, "needs": needs, "proven": True}


def drawn(*points):
    front = {"device": "xc7z020", "available": AVAILABLE, "points": list(points)}
    root = ET.fromstring(draw_front(front, "net <1>"))
    curves = {
        each.get("class").split()[1]: each.get("d") for each in root.iter(f"{NAME}path") if each.get("class")
    }
    return curves, [each.text for each in root.iter(f"{NAME}text")]


def test_each_resource_has_a_curve_of_steps():
    curves, texts = drawn(point(10, 1000, 1, 0), point(100, 100, 1, 0))
    assert list(curves) == ["cost", "lut", "bram18"]  # no DSP is taken
    # Shares from 10 % to 1,000 %, cycles from 10 to 100: all LUTs are half way up, a tenth of them is at the bottom.
    assert curves["lut"] == f"M0.0 {HIGH / 2}H{WIDE}.0V{HIGH}.0H{WIDE}"
    assert texts[0] == "net <1> on xc7z020: interval against cost"
    assert {"sum", "LUT", "BRAM18", "10", "100", "cycles from frame to frame"} <= set(texts)


def test_one_circuit_is_a_line():
    curves, _ = drawn(point(10, 100, 0, 2))
    assert curves["lut"] == curves["dsp"]  # both a tenth
    assert "V" not in curves["lut"]


def test_names_do_not_stand_on_each_other():
    root = ET.fromstring(
        draw_front({"device": "d", "available": AVAILABLE, "points": [point(10, 100, 1, 2)]}, "net")
    )
    places = [float(each.get("y")) for each in root.iter(f"{NAME}text") if each.get("x") == str(WIDE + 8)]
    assert len(places) == 4
    assert min(b - a for a, b in zip(sorted(places), sorted(places)[1:], strict=False)) >= 12
