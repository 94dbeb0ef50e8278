"""The catalogue of all installed plugins in Chromium: searched, filtered, by keyboard, light and dark, wide and narrow."""

import pytest

from .made import record, site_of
from .test_plugin_page import HOSTILE

pytestmark = pytest.mark.slow

PAGES = (
    "index.html", "index.html#q=threshold&type=kernel", "index.html#q=streemline", "kernels.html", "changes.html",
    "backend/brainsmith.EmbeddedMVAURTL.html", "backend/brainsmith.LookupRTL.html", "kernel/finn.MVAU.html",
    "transform/finn.Streamline.html", "transform/qonnx.FoldConstants.html", "step/brainsmith.rtl_stitch.html",
    "op/brainsmith.int_quant.html", "target/brainsmith.numpy.html",
)  # fmt: skip


def test_what_is_typed_is_found_by_each_key_names_first(tab, plugins):
    shown = tab().open()
    assert shown.status == f"{len(plugins)} plugins" and len(shown.names) == len(plugins)
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("streaml")
    assert shown.names[:3] == ["Streamline", "streamline", "streamline"]
    some = len(shown.names)
    shown.page.keyboard.type("ine finn")
    assert shown.names[0] == "Streamline" and len(shown.names) < some
    assert shown.status == f"{len(shown.names)} of {len(plugins)} plugins"
    assert shown.place.endswith("/index.html#q=streamline+finn")
    shown.page.keyboard.press("Escape")
    assert len(shown.names) == len(plugins) and shown.place.endswith("/index.html")


def test_a_part_of_a_name_and_a_word_of_a_docstring_are_found(tab):
    shown = tab().open()
    shown.page.fill("input[name=q]", "pad")
    assert shown.names[0] == "Pad"
    assert shown.names.index("PadRTL") < shown.names.index("InferPad")  # what begins with it comes first
    shown.page.fill("input[name=q]", "1709")
    assert "Streamline" in shown.names  # its docstring names the paper


def test_filters_combine_count_and_go_away(tab, plugins):
    shown = tab().open()
    rtl = [
        one["name"]
        for one in plugins.values()
        if one.get("backend_type") == "rtl" and one["framework"] == "brainsmith"
    ]
    for words in ("backend", "brainsmith", "rtl"):
        shown.page.get_by_role("checkbox", name=words, exact=False).first.check()
    assert shown.names == rtl
    assert shown.place.endswith("index.html#type=backend&framework=brainsmith&backend=rtl")
    amounts = shown.page.eval_on_selector_all(
        "fieldset:nth-of-type(3) label", "found => found.map(one => one.textContent)"
    )
    hls = [
        one
        for one in plugins.values()
        if one.get("backend_type") == "hls" and one["framework"] == "brainsmith"
    ]
    assert amounts == [f"hls{len(hls)}", f"rtl{len(rtl)}"]
    shown.page.get_by_role("button", name="Remove the filter Backend rtl").click()
    assert len(shown.names) == len(rtl) + len(hls)
    shown.page.get_by_role("button", name="Clear all").click()
    assert len(shown.names) == len(plugins)
    assert shown.page.locator("input:checked").count() == 0


def test_each_filter_that_was_asked_for_is_there(tab):
    shown = tab().open()
    legends = shown.page.eval_on_selector_all("legend", "found => found.map(one => one.textContent)")
    assert legends == ["Type", "Framework", "Backend", "Stage", "Kernel", "Licence"]


def test_an_address_says_what_is_shown_and_a_search_from_another_page_arrives(tab, plugins):
    shown = tab().open("index.html#q=crop&type=kernel&type=backend&framework=brainsmith")
    assert shown.names == ["Crop", "CropRTL"]
    assert shown.page.input_value("input[name=q]") == "crop"
    assert shown.page.locator("input:checked").count() == 3
    shown.page.evaluate("location.hash = '#type=target'")
    assert shown.names == [one["name"] for one in plugins.values() if one["type"] == "target"]
    shown.open("transform/finn.Streamline.html")
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("softmaxrtl")
    shown.page.keyboard.press("Enter")
    shown.page.wait_for_url("**/index.html?q=softmaxrtl*")
    assert shown.names == ["SoftmaxRTL"]
    shown.open("kernel/brainsmith.Pad.html").page.click("nav.trail a >> nth=0")
    assert shown.place.endswith("index.html#type=kernel")
    assert set(shown.names) == {one["name"] for one in plugins.values() if one["type"] == "kernel"}


def test_all_of_it_works_with_the_keyboard_alone(tab):
    shown = tab().open()
    keys = shown.page.keyboard
    keys.press("Tab")
    assert shown.focused == "Skip to the content"
    keys.press("/")
    keys.type("layernorm")
    keys.press("ArrowDown")
    assert shown.focused == shown.names[0] == "LayerNorm"
    keys.press("ArrowDown")
    assert shown.focused == shown.names[1]
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    assert shown.focused == "q"
    keys.press("ArrowDown")
    keys.press("Escape")
    assert shown.focused == "q"
    keys.press("Enter")
    shown.page.wait_for_url("**/kernel/brainsmith.LayerNorm.html")
    shown.open()
    boxes = shown.page.locator("fieldset input").first
    boxes.focus()
    keys.press("Space")
    assert shown.place.endswith("index.html#type=transform")


def test_nothing_found_says_so_and_names_what_is_close(tab):
    shown = tab().open("index.html#q=streemline")
    assert shown.names == []
    assert shown.page.text_content("#none").startswith("No plugin has all of this.Close names:Streamline")
    shown.page.fill("input[name=q]", "zzzzqqqq")
    assert shown.page.text_content("#none") == "No plugin has all of this."
    shown.page.get_by_role("button", name="Clear all").click()
    assert not shown.page.is_visible("#none")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [500, 1400])
def test_no_page_hinders_anybody_or_is_wider_than_the_screen(tab, width, scheme):
    shown = tab(width=width, color_scheme=scheme)
    for address in PAGES:
        shown.open(address)
        assert shown.violations() == {}, address
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, address
        ground = shown.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(244, 245, 247)", "dark": "rgb(16, 21, 27)"}[scheme]


def test_on_a_narrow_screen_the_filters_are_folded(tab):
    shown = tab(width=500).open("index.html")
    boxes = shown.page.locator("fieldset input").first
    assert not boxes.is_visible()
    shown.page.click("summary")
    assert boxes.is_visible()


def test_without_its_script_the_catalogue_still_reads(tab, plugins):
    shown = tab(java_script_enabled=False).open()
    assert shown.page.locator("#plugins > li").count() == len(plugins)
    assert not shown.page.is_visible("#filters")
    shown.page.click("#plugins a >> nth=0")
    assert shown.page.locator("h1").count() == 1


def test_hostile_texts_do_nothing_in_a_browser_and_are_found(tab, tmp_path):
    files = site_of(
        record("Bad", description=HOSTILE, tags=("x",), stage=HOSTILE, extra={"license": HOSTILE}),
        record(HOSTILE, "op", HOSTILE),
        record("Good", framework="acme"),
    )
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    shown = tab(tmp_path).open()
    shown.page.fill("input[name=q]", "onerror")
    assert len(shown.names) == 2
    for box in range(shown.page.locator("fieldset input").count()):
        shown.page.locator("fieldset input").nth(box).check()
    for path in files:
        if path.endswith(".html"):
            shown.open(path)
            assert "taken" not in shown.page.title().partition("<")[0]
            assert shown.page.locator("img").count() == 0
    # What the policy refuses would have been said in the console, which must be silent.
