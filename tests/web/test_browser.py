"""The page in a real browser: its script runs under its own policy, and a hostile one does not."""

import shutil
import subprocess

import pytest

from brainsmith.web.page import render

from .circuits import RTL
from .pages import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom",
)  # fmt: skip
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Chromium on PATH (Debian: apt-get install chromium)"
)


def loaded(report, folder, wave=""):
    """The page as it stands after its script has run."""
    output = render(report, folder / "report.html", wave)
    command = [
        CHROMIUM,
        *FLAGS,
        "--window-size=500,900",
        f"--user-data-dir={folder / 'profile'}",
        output.as_uri(),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return Page(ran.stdout)


@pytest.mark.slow
def test_the_script_adds_its_tools_to_both_graphs_and_to_the_tables(report, tmp_path):
    parsed = loaded(report, tmp_path)
    shown = [a for a in parsed.all("div") if a.get("class") == "tools" and "hidden" not in a]
    assert [a["data-tools"] for a in shown] == ["before", "after"]
    assert len(parsed.all("input", type="search")) == 2
    assert len([a for a in parsed.all("button") if a.get("title") == "Sort"]) == 7 + 13
    assert [a["id"] for a in parsed.all("g", tabindex="0")] == ["before-0", "after-0"]


@pytest.mark.slow
def test_the_circuit_and_its_handshakes_can_be_zoomed_and_wide_tables_say_that_they_scroll(report, tmp_path):
    wave = {"frame": 0, "cycles": 9, "interval": None}
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200" width="300" height="200"></svg>'
    parsed = loaded({**report, "rtl": {**RTL, "wave": wave}}, tmp_path, picture)
    shown = [a["data-tools"] for a in parsed.all("div") if a.get("class") == "tools" and "hidden" not in a]
    assert shown == ["before", "after", "circuit", "wave"]
    signs = [a["aria-label"] for a in parsed.all("button") if a.get("class") == "sign"]
    assert signs == ["Zoom out", "Zoom in"] * 4
    frames = {a["aria-label"]: a["class"] for a in parsed.all("div") if "wide" in a.get("class", "").split()}
    assert frames["Layers, table (scrolls)"] == "scroll wide overflows"


CLICKS = """
for (const [table, heading] of [["Steps", "Source"], ["Layers", "LUT"], ["Layers", "LUT"]]) {
  const found = [...document.querySelectorAll("table.data")].find((one) => one.caption.textContent === table);
  [...found.querySelectorAll("thead button")].find((one) => one.textContent === heading).click();
}
"""


@pytest.mark.slow
def test_a_click_sorts_a_table_and_one_more_turns_it_round(report, tmp_path, monkeypatch):
    from brainsmith.web import page as web

    original = web._resource
    monkeypatch.setattr(
        web, "_resource", lambda name: original(name) + (CLICKS if name.endswith(".js") else "")
    )
    for step, (seconds, reused) in zip(
        report["steps"], [(0.5, True), (0.0124, True), (3.0, False), (0.0057, True)], strict=True
    ):
        step.update(seconds=seconds, reused=reused)
    parsed = loaded(report, tmp_path)
    rows = [a["id"] for a in parsed.all("tr") if "id" in a]
    assert rows[:4] == ["step-2", "step-3", "step-1", "step-0"]  # run, 5.7 ms, 12.4 ms, 500 ms
    assert rows[4:] == ["layer-1", "layer-0", "layer-3", "layer-2"]  # 5,230, 1,200, 640, 310 LUTs
    assert [a["aria-sort"] for a in parsed.all("th") if "aria-sort" in a] == ["ascending", "descending"]


@pytest.mark.slow
def test_a_hostile_script_does_not_run_even_if_it_got_into_the_page(report, tmp_path, monkeypatch):
    from brainsmith.markup import Markup
    from brainsmith.web import elements, page_sections

    def unescaped(key, title, *children, note=""):
        script = "<script>document.title = 'taken over'</script>"
        return Markup(script + elements.section(key, title, *children))

    monkeypatch.setattr(page_sections, "section", unescaped)
    assert loaded(report, tmp_path).text.startswith("mlp.onnx · BrainSmith build report")
