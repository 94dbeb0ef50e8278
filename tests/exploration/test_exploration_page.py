"""`explore.html`: it reads without its script, holds what is in a model as text, and its script works in a real browser."""

import pytest

from brainsmith.exploration.exploration_page import exploration_page
from tests.web import test_browser
from tests.web.pages import Page

BROWSER = pytest.mark.skipif(test_browser.CHROMIUM is None, reason="needs Chromium on PATH")


def point(number, fps, lut, front=False, state="done", **more):
    figures = {"fps": fps, "lut": lut, "accuracy": None} if state == "done" else None
    return {
        "choices": {"board": ["pynq-z2", "kv260"][number % 2], "rate": 1000 * (number + 1)},
        "fidelity": "estimates",
        "state": state,
        "front": front,
        "figures": figures,
        "reason": None,
        "seconds": 1.0,
        "folder": f"points/{number}",
        "command": f"brainsmith build m.onnx --blueprint points/{number}/blueprint.yaml",
        **more,
    }


@pytest.fixture
def document():
    return {
        "schema": "brainsmith.exploration/1",
        "blueprint": "a <b>space</b>.yaml",
        "fidelity": "estimates",
        "considered": 12000,
        "choices": {"board": ["pynq-z2", "kv260"], "rate": [1000, 2000, 3000, 4000], "one": [7]},
        "objectives": {"fps": "max", "lut": "min"},
        "constraints": ["lut < 9000"],
        "unmodelled": [],
        "importance": {"fps": {"rate": 0.75, "board": 0.0}, "lut": {"rate": 0.5, "board": 0.25}},
        "points": [
            point(0, 1500.0, 300, front=True),
            point(1, 2500.0, 900, front=True),
            point(2, 2500.0, 1000),
            point(3, None, None, state="failed", reason="no layer <i>x</i>"),
        ],
    }


CLOUD = [({"board": "kv260", "rate": at}, {"fps": 10.0 * at, "lut": at}) for at in (1000, 2000, 3000)]


def test_it_reads_without_its_script(document):
    page = Page(exploration_page(document, CLOUD))
    assert page.problems == []
    for words in (
        "a <b>space</b>.yaml",
        "12,000",
        "fps max, lut min",
        "lut < 9000",
        "no layer <i>x</i>",
        "ended",
    ):
        assert words in page.text
    assert [a["href"] for a in page.all("a")] == [f"points/{at}/estimates/report.html" for at in range(3)]
    assert [a["id"] for a in page.all("tr") if "id" in a] == [f"point-{at}" for at in range(4)]
    assert [(a["value"]) for a in page.all("meter")] == ["0.750", "0.500", "0.250"]
    assert "runs; this page loads itself again" in Page(exploration_page(document, CLOUD, live=True)).text


def browsed(document, tmp_path, monkeypatch, script):
    """The page as it stands after its script, and then ours, has run."""
    from brainsmith.exploration import exploration_page as module

    original = module._resource
    monkeypatch.setattr(
        module, "_resource", lambda name: original(name) + (script if name.endswith(".js") else "")
    )
    file = tmp_path / "explore.html"
    file.write_text(exploration_page(document, CLOUD))
    command = [test_browser.CHROMIUM, *test_browser.FLAGS, "--window-size=1200,1800"]
    ran = test_browser.subprocess.run(
        [*command, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return Page(ran.stdout)


def hidden(page):
    return [a["id"] for a in page.all("tr") if a.get("id", "").startswith("point-") and "hidden" in a]


@BROWSER
@pytest.mark.slow
def test_points_are_drawn_and_every_number_has_its_axis(document, tmp_path, monkeypatch):
    page = browsed(document, tmp_path, monkeypatch, "")
    assert [a["class"] for a in page.all("circle")] == ["cloud"] * 3 + ["built"] + ["built best"] * 2
    assert len(page.all("polyline")) == 3  # what failed has no line
    titles = ["lut", "fps", "board", "rate", "fps", "lut"]
    assert page.text.count("4 points") == 1 and all(title in page.text for title in titles)
    assert [a["data-axis"] for a in page.all("rect", class_=None) if "data-axis" in a] == ["0", "1", "3", "4"]


CHOOSE = "\ndocument.querySelector('circle.best').dispatchEvent(new Event('click'));"


@BROWSER
@pytest.mark.slow
def test_a_click_on_a_point_shows_what_is_known_of_it(document, tmp_path, monkeypatch):
    page = browsed(document, tmp_path, monkeypatch, CHOOSE)
    assert "done, estimates: board pynq-z2, rate 1,000, fps 1,500, lut 300" in page.text
    assert "brainsmith build m.onnx --blueprint points/0/blueprint.yaml Copy" in page.text
    assert [a["id"] for a in page.all("tr") if "chosen" in a.get("class", "")] == ["point-0"]


DRAG = """
{
  const svg = document.getElementById("ways-plot"), frame = svg.getBoundingClientRect();
  const at = (share) => frame.top + (420 - share * 370) * frame.height / 460;
  const handle = svg.querySelector("[data-axis='1']");
  handle.dispatchEvent(new PointerEvent("pointerdown", { clientY: at(0.4), bubbles: true }));
  svg.dispatchEvent(new PointerEvent("pointerup", { clientY: at(0.9), bubbles: true }));
}
"""
CLEAR = "\ndocument.getElementById('no-filters').click();"


@BROWSER
@pytest.mark.slow
@pytest.mark.parametrize(("script", "gone"), [(DRAG, [0, 1, 3]), (DRAG + CLEAR, [])])
def test_what_is_marked_on_an_axis_filters_everything(document, tmp_path, monkeypatch, script, gone):
    page = browsed(document, tmp_path, monkeypatch, script)
    assert hidden(page) == [f"point-{at}" for at in gone]
    assert len(page.all("polyline")) == 3 - len([at for at in gone if at < 3])
    assert ("1 of 4 points; filters on rate" in page.text) is bool(gone)


TURN = """
{
  const depth = document.getElementById("axis-z");
  depth.value = "1";
  depth.dispatchEvent(new Event("change"));
  const before = document.querySelector("circle").getAttribute("cx");
  document.getElementById("front-plot").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  document.title = String(before !== document.querySelector("circle").getAttribute("cx"));
}
"""


@BROWSER
@pytest.mark.slow
def test_three_axes_can_be_turned(document, tmp_path, monkeypatch):
    page = browsed(document, tmp_path, monkeypatch, TURN)
    assert page.text.startswith("true ")
    assert "rate → 4,000" in page.text


SORT = """
const heads = [...document.querySelectorAll("#points thead button")];
for (const _ of [1, 2]) heads.find((one) => one.textContent === "lut").click();
"""


@BROWSER
@pytest.mark.slow
def test_a_click_on_a_heading_sorts_by_numbers(document, tmp_path, monkeypatch):
    page = browsed(document, tmp_path, monkeypatch, SORT)
    assert [a["id"] for a in page.all("tr") if "id" in a] == ["point-3", "point-2", "point-1", "point-0"]


@BROWSER
@pytest.mark.slow
def test_a_hostile_name_stays_text(document, tmp_path, monkeypatch):
    hostile = "<img src=x onerror=\"document.title='taken over'\">"
    document["choices"]["board"] = [hostile, "kv260"]
    document["points"][0]["choices"]["board"] = hostile
    page = browsed(document, tmp_path, monkeypatch, CHOOSE)
    assert not page.all("img") and hostile in page.text and "taken over BrainSmith" not in page.text
