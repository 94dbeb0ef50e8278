"""A real browser, and the catalogue of all that is installed here."""

import json
import shutil
from pathlib import Path

import pytest

from tests.web.test_browser import CHROMIUM

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
AXE = Path(__file__).parents[1] / "accessibility" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def chromium():
    """Chromium without a window."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium on PATH (Debian: apt-get install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright (pip install playwright)"
    )
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


class Tab:
    """A page of a catalogue in the browser; what its console says is an error of the test."""

    def __init__(self, browser, folder, **options):
        self._folder = folder
        self._context = browser.new_context(**options)
        self.page = self._context.new_page()
        self.said = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("requestfailed", lambda request: self.said.append(f"{request.url} cannot be loaded"))
        self.asked = []
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address="index.html"):
        file, mark, rest = address.partition("#")
        self.page.goto(f"{(self._folder / file).as_uri()}{mark}{rest}")
        return self

    @property
    def names(self):
        """The names in the list of plugins, in order; all of them come a moment after a key."""
        found = int(self.status.split(" ")[0].replace(",", ""))
        while self.page.locator("#plugins > li").count() != found:
            self.page.wait_for_timeout(20)
        return self.page.eval_on_selector_all("#plugins > li a", "found => found.map(one => one.textContent)")

    @property
    def status(self):
        return self.page.text_content("#found")

    @property
    def focused(self):
        return self.page.evaluate("document.activeElement.textContent || document.activeElement.name")

    @property
    def place(self):
        self.page.wait_for_timeout(200)  # it follows what is typed a moment later
        return self.page.evaluate("location.pathname.split('/').slice(-2).join('/') + location.hash")

    def violations(self):
        """What axe-core finds: the rule, and the elements."""
        if not AXE.is_file():
            pytest.skip("needs axe-core (npm ci --prefix tests/web/accessibility)")
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("axe.run({ preload: false })")  # it would ask for the style sheet again
        return {one["id"]: [node["html"][:150] for node in one["nodes"][:3]] for one in found["violations"]}

    def close(self):
        self._context.close()


@pytest.fixture
def tab(chromium, site):
    """Open tabs with options of the browser's contexts; each must have been silent and have asked no network."""
    opened = []

    def make(folder=site, width=1400, **options):
        opened.append(Tab(chromium, folder, viewport={"width": width, "height": 900}, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
        assert one.said == []
        assert [url for url in one.asked if not url.startswith(("file:", "data:"))] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The catalogue of all plugins that are installed."""
    from brainsmith.cli.main import main

    folder = tmp_path_factory.mktemp("catalogue") / "site"
    assert main(["catalogue", "--output", str(folder)]) == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def plugins(site):
    """What `catalogue.json` states of each plugin, by keys."""
    return json.loads((site / "catalogue.json").read_text())["plugins"]
