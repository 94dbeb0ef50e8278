"""The site in a real browser: wide and narrow, light and dark, its search and its selector of versions."""

import shutil

import pytest

from tests.site.browser import browser_tab
from tests.site.conftest import server_of
from tests.web.test_browser import CHROMIUM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on PATH (Debian: apt-get install chromium)"),
]
PICTURES = """
[...document.querySelectorAll("article img")].map((picture) => {
  const {left, right, height} = picture.getBoundingClientRect();
  const scrolls = getComputedStyle(picture.parentElement).overflowX === "auto";
  return picture.complete && picture.naturalWidth > 0 && height > 100 && left >= 0 && (right <= innerWidth || scrolls);
})
"""
"""Which pictures are loaded, large enough to be read, and not cut off."""
BESIDE = """
[...document.querySelectorAll("article :is(img, table)")].slice(0, 2).map((one) => one.getBoundingClientRect())
  .reduce((picture, table) => table.top < picture.bottom && table.right <= picture.left)
"""
"""Whether the block diagram is beside the first table, and not above it."""
RESULTS = (
    "[...document.querySelectorAll('.md-search-result__item :is(h1, h2)')].map((title) => title.textContent)"
)


@pytest.fixture
def tab(tmp_path):
    with browser_tab(tmp_path / "profile") as opened:
        yield opened


@pytest.mark.parametrize(("dark", "background"), [(False, "rgb(255, 255, 255)"), (True, "rgb(16, 21, 27)")])
@pytest.mark.parametrize("width", [500, 1400])
def test_the_landing_page_fits_and_nothing_is_reported(tab, served, width, dark, background):
    tab.open(f"{served}/latest/", width, dark=dark)
    assert tab.evaluate("document.querySelector('h1').firstChild.textContent") == "BrainSmith"
    assert tab.evaluate(PICTURES) == [True, True]
    assert tab.evaluate(BESIDE) == (width == 1400)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == background
    tab.until("document.querySelector('.md-version') !== null")
    assert tab.complaints == []
    assert [address for address in tab.requests if not address.startswith((f"{served}/", "data:"))] == []


@pytest.mark.parametrize(
    "page", ["blueprint/", "kernels/softmax_rtl/", "reference/brainsmith.ops/", "examples/encoder/"]
)
@pytest.mark.parametrize("width", [500, 1400])
def test_other_pages_fit_too(tab, served, page, width):
    """What is too wide, such as a table, scrolls by itself."""
    tab.open(f"{served}/latest/{page}", width)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert set(tab.evaluate(PICTURES)) <= {True}
    tab.until("document.querySelector('.md-version') !== null")
    assert tab.complaints == []


def test_the_first_page_of_the_site_leads_to_the_newest_version(tab, served):
    tab.open(f"{served}/", 1400)
    title = "document.querySelector('h1')?.firstChild.textContent"
    assert tab.until(f"location.pathname === '/latest/' && {title}") == "BrainSmith"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("get_plugin_info", "brainsmith.plugins.get_plugin_info"),
        ("brainsmith.ops.Tensor", "brainsmith.ops.Tensor"),
        ("gradcheck", "brainsmith.ops.gradcheck"),
        ("SoftmaxRTL", "SoftmaxRTL"),
    ],
)
def test_a_search_finds_names_and_pages_without_another_server(tab, served, words, found):
    tab.open(f"{served}/latest/?q={words}", 1400)
    assert found in tab.until(f"{RESULTS}.length && {RESULTS}")
    assert tab.complaints == []
    assert [address for address in tab.requests if not address.startswith((f"{served}/", "data:"))] == []


def test_the_selector_leads_to_another_version(tab, served, built, tool, tmp_path):
    older = shutil.copytree(built / "latest", tmp_path / "older")
    tool("make_site").publish(older, "0.0.9", built)
    tab.open(f"{served}/latest/blueprint/", 1400)
    links = "[...document.querySelectorAll('.md-version__link')]"
    shown = tab.until(f"{links}.length && {links}.map((link) => [link.textContent.trim(), link.pathname])")
    assert shown == [["0.1", "/0.1/"], ["0.0", "/0.0/"]]
    tab.evaluate(f"{links}[1].click()")
    current = "document.querySelector('.md-version__current')?.textContent"
    assert tab.until(f"location.pathname.startsWith('/0.0/') && {current}") == "0.0"


def test_with_an_address_the_selector_leads_to_the_same_page_and_what_does_not_exist_has_a_page(
    tab, built, tool, tmp_path
):
    make_site = tool("make_site")
    site = tmp_path / "site"
    site.mkdir()
    with server_of(site) as address:
        assert make_site.main(["--output", str(site), "--url", address]) == 0
        make_site.publish(shutil.copytree(site / "0.1", tmp_path / "older"), "0.0.9", site)
        assert f"<loc>{address}/0.1/blueprint/</loc>" in (site / "0.1" / "sitemap.xml").read_text()
        assert 'href="/0.1/assets/brainsmith.css"' in (site / "0.1" / "404.html").read_text()
        tab.open(f"{address}/0.0/blueprint/", 1400)
        assert (
            tab.evaluate("document.querySelector('link[rel=canonical]').href") == f"{address}/0.1/blueprint/"
        )
        tab.until("document.querySelector('.md-version__link') !== null")
        tab.evaluate("document.querySelector('.md-version__link').click()")
        assert tab.until("location.pathname !== '/0.0/blueprint/' && location.pathname") == "/0.1/blueprint/"
