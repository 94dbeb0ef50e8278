"""The pages of plugins, kernels and changes, and the index: what stands in them, and that nothing in them can run."""

import json
import posixpath

import pytest

from brainsmith.web.catalogue.data_sheet import SCHEMA
from tests.web.pages import Page

from .made import PAD, kernels_and_backends, record, site_of

CSP = "default-src 'none'; img-src data:; style-src 'self'; script-src 'self'; form-action 'self'"


def pages(site):
    return {path: Page(text) for path, text in site.items() if path.endswith(".html")}


@pytest.fixture
def site(tmp_path):
    return site_of(*kernels_and_backends(tmp_path))


def test_all_pages_are_well_formed_and_all_their_links_lead_somewhere(site):
    for path, page in pages(site).items():
        assert page.problems == [], path
        (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
        assert policy["content"] == CSP
        ids = [a["id"] for _, a in page.elements if "id" in a]
        assert len(ids) == len(set(ids)), path
        for name, attribute in (("a", "href"), ("link", "href"), ("script", "src"), ("form", "action")):
            for a in page.all(name):
                link = a.get(attribute, "data:")
                if not link.startswith(("data:", "file:", "#")):
                    target = posixpath.normpath(
                        posixpath.join(posixpath.dirname(path), link.partition("#")[0])
                    )
                    assert target in site, (path, link)


def test_a_kernel_shows_what_is_known_of_it(site):
    text = Page(site["kernel/brainsmith.Pad.html"]).text
    for part in (
        "Pad (kernel) · BrainSmith catalogue",
        "Skip to the content",
        "Kernels / brainsmith Pad kernel brainsmith Put values around",
        "from brainsmith.plugins import kernels kernels.Pad In a blueprint: Pad",
        "Surround a tensor. Along any axes. Args node The Pad node. value What is put around it, which may be any integer.",
        "Name Type Default Note node – required value int 0 exact – True by name only",
        "In the order in which a build tries them, unless its blueprint names one.",
        "Backend Kind Framework What it is PadRTL RTL brainsmith Counts beats PadHLS HLS brainsmith",
        "Inferred by brainsmith:InferPad",
        "Others of this name The bare name 'Pad' means this one. finn:Pad Zeros around images",
        "Provided by brainsmith 0.1.0",
        "Licence MIT",
    ):
        assert part in text
    finn = Page(site["kernel/finn.Pad.html"]).text
    assert "kernels.finn.Pad In a blueprint: finn:Pad" in finn
    assert "The bare name 'Pad' means brainsmith:Pad." in finn
    assert "No backend implements this kernel." in Page(site["kernel/finn.Lone.html"]).text


def test_backends_and_transforms_show_their_kernel(site):
    assert "Kernel The kernel that it implements. finn:Pad" in Page(site["backend/acme.OtherRTL.html"]).text
    assert (
        "The kernel that it infers. brainsmith:Pad" in Page(site["transform/brainsmith.InferPad.html"]).text
    )
    assert "No kernel 'Nowhere' is registered." in Page(site["backend/acme.Lost.html"]).text
    (tag,) = [
        a["href"] for a in Page(site["transform/brainsmith.InferPad.html"]).all("a") if "#q=" in a["href"]
    ]
    assert tag == "../index.html#q=layout"


def test_the_matrix_has_a_row_for_each_kernel_and_a_column_for_each_kind_of_backend(site):
    text = Page(site["kernels.html"]).text
    assert "3 kernels, 1 without a backend." in text
    assert "Kernel Framework RTL of acme RTL of brainsmith RTL of finn HLS of brainsmith" in text
    assert "Pad brainsmith – PadRTL – PadHLS Lone finn – – – – Pad finn OtherRTL – Pad_rtl –" in text
    assert "Backends of kernels that are not registered acme:Lost states 'Nowhere'" in text


def test_the_index_lists_all_and_holds_what_the_script_searches(site):
    page = Page(site["index.html"])
    rows = [a["href"] for a in page.all("a") if "/" in a["href"]]
    assert rows == [path for path in sorted(site) if "/" in path and path.startswith("transform")] + [
        f"kernel/{name}.html" for name in ("brainsmith.Pad", "finn.Lone", "finn.Pad")
    ] + [
        f"backend/{name}.html"
        for name in ("acme.Lost", "acme.OtherRTL", "brainsmith.PadHLS", "brainsmith.PadRTL", "finn.Pad_rtl")
    ]  # fmt: skip
    data = json.loads(site["index.html"].partition('id="catalogue-data">')[2].partition("</script>")[0])
    assert data[0][:6] == ["transform", "brainsmith", "hardware", ["Pad"], [], "MIT"]
    assert data[1][:6] == ["kernel", "brainsmith", "", ["Pad"], ["hls", "rtl"], "MIT"]
    assert {"tensor", "exact", "integer"} <= set(data[1][6].split())
    assert "values" not in data[1][6].split()  # the row shows it
    assert "9 plugins from acme, brainsmith 0.1.0, finn-plus 1.6.1." in page.text


def test_a_catalogue_of_nothing_is_one_too():
    site = site_of()
    assert "There are no plugins." in Page(site["index.html"]).text
    assert "There are no kernels." in Page(site["kernels.html"]).text
    assert "Nothing has changed since the first catalogue in this folder." in Page(site["changes.html"]).text


def test_changes_are_shown_with_what_was_and_what_is():
    before = json.loads(site_of(record("A", description="Was"), record("B"))["catalogue.json"])
    site = site_of(record("A", description="Is"), record("C", framework="finn"), before=before)
    text = Page(site["changes.html"]).text
    assert "Change 1 From 2 plugins to 2. Providers: finn-plus 1.6.1 is new." in text
    assert (
        "Added: 1 transform finn:C Removed: 1 transform brainsmith:B Changed: 1 transform brainsmith:A"
        in text
    )
    assert "description Was Is" in text
    index = Page(site["index.html"]).text
    assert "Last change: 1 added, 1 removed, 1 changed" in index
    assert "A changed Is transform" in index and "C new transform" in index


def test_a_backend_with_a_data_sheet_shows_its_timing_and_its_curves(tmp_path):
    (tmp_path / "data_sheets").mkdir()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 90 40"><script>alert(1)</script></svg>'
    (tmp_path / "data_sheets" / "core.svg").write_text(svg)
    points = [
        {"PE": pe, "cycles": 8 // pe, "lut": 10 * pe, "ff": 1, "bram18": 0, "dsp": 0, "uram": 0}
        for pe in (1, 2)
    ]
    sheet = {"schema": SCHEMA, "case": "8 INT4", "attributes": ["PE"], "points": points, "timing": "core.svg"}
    (tmp_path / "data_sheets" / "PadRTL.json").write_text(json.dumps(sheet))
    backend = record(
        "PadRTL",
        "backend",
        kernel="Pad",
        backend_type="rtl",
        source=PAD.replace("Pad", "PadRTL"),
        folder=tmp_path,
    )
    text = site_of(backend)["backend/brainsmith.PadRTL.html"]
    page = Page(text)
    (image,) = page.all("img")
    assert image["src"].startswith("data:image/svg+xml;base64,") and (image["width"], image["height"]) == (
        "90",
        "40",
    )
    assert "alert" not in text
    assert "Resources For 8 INT4, by the formulas that builds use." in page.text
    assert [a["aria-label"].partition(":")[0] for a in page.all("svg")] == [
        "Cycles of a frame over PE",
        "LUT over PE",
    ]
    assert "The same for each: Flip-flops: 1." in page.text


HOSTILE = (
    '</script><script>document.title="taken"</script><img src=x onerror=alert(1)> \x00\x1b[2J\u202e\ud800'
)


def test_hostile_texts_are_shown_and_can_do_nothing(tmp_path):
    source = f'class Bad:\n    """{HOSTILE.encode("ascii", "backslashreplace").decode()}"""\n'
    bad = record(
        "Bad", description=HOSTILE, author=HOSTILE, tags=(HOSTILE,), stage=HOSTILE, version=HOSTILE, requires=(HOSTILE,),
        extra={"license": HOSTILE, "note": HOSTILE, "link": "javascript:alert(1)"}, source=source, folder=tmp_path,
    )  # fmt: skip
    named = record(HOSTILE, "op", HOSTILE, origin="/x/\ud800.py:1", reference=f"{HOSTILE}:{HOSTILE}")
    before = json.loads(site_of(record("Bad", description="good"))["catalogue.json"])
    site = site_of(bad, named, before=before)
    for path, text in site.items():
        assert path.isascii()
        if not path.endswith(".html"):
            continue
        page = Page(text)
        assert page.problems == [], path
        assert {a.get("type", a.get("src")) for a in page.all("script")} <= {
            "application/json", "catalogue.js", "../catalogue.js",
        }  # fmt: skip
        assert [name for name, a in page.elements if any(key.startswith("on") for key in a)] == []
        assert not any(a.get("href", "").startswith("javascript") for a in page.all("a"))
        assert not set(text) & set("\x00\x1b\ud800")
    assert 'document.title="taken"' in Page(site["transform/brainsmith.Bad.html"]).text
    json.loads(site["catalogue.json"])
