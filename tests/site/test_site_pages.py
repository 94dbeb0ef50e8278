"""The site of this checkout: it says what the pages say, loads nothing from elsewhere, and nothing in it is missing."""

import json
import posixpath
import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from tests.test_docs import ROOT

pytestmark = pytest.mark.slow

LOADED = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "embed": "src",
}
"""The attributes whose address a browser loads without being asked; of a `link` it depends on what it is."""
ELSEWHERE = re.compile(r"(?:https?:)?//[\w.-]+", re.IGNORECASE)
COUNTED = {
    "h1",
    "h2",
    "h3",
    "h4",
    "li",
    "ul",
    "ol",
    "pre",
    "table",
    "tr",
    "td",
    "th",
    "img",
    "strong",
    "em",
    "blockquote",
}


class Read(HTMLParser):
    """What is in a page: its links, what it loads, its anchors; the text and the elements of its article."""

    def __init__(self, html):
        super().__init__()
        self.links, self.loaded, self.anchors, self.alternatives = [], [], set(), []
        self.elements, self.words, self._inside, self.canonical = Counter(), [], False, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self._inside = self._inside or tag == "article"
        self.anchors |= {attributes.get("id"), attributes.get("name")}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag == "link":
            self.loaded.append(attributes["href"])
        if tag in LOADED and LOADED[tag] in attributes:
            self.loaded.append(attributes[LOADED[tag]])
        if tag == "img":
            self.alternatives.append(attributes.get("alt", ""))
        if self._inside and tag in COUNTED:
            self.elements[tag] += 1

    def handle_endtag(self, tag):
        self._inside = self._inside and tag != "article"

    def handle_data(self, data):
        if self._inside:
            self.words.append(data)

    @property
    def text(self):
        """The text without space and the theme's signs for links to headings."""
        return re.sub(r"[\s¶]+", "", "".join(self.words))


@pytest.fixture(scope="module")
def read(pages):
    """All pages by their paths."""
    return {str(path.relative_to(pages)): Read(path.read_text()) for path in sorted(pages.rglob("*.html"))}


def place(address):
    """Return the file of a page that is made from a file in Markdown."""
    folder = re.sub(r"(^|/)(README|index)$", "", address.removesuffix(".md"))
    return posixpath.join(folder, "index.html")


def sources(tool):
    """Return the pages in Markdown of this repository that the site shows, with the places of theirs."""
    links = tool("site_links")
    return {path: place(links.address(path)) for path in links.shown_files(ROOT) if path.endswith(".md")}


def test_each_page_says_the_same_on_a_code_host_and_on_the_site(read, tool):
    """A code host renders CommonMark with tables, the site Python-Markdown, which differ in lists, code and more."""
    host = MarkdownIt("commonmark").enable("table")
    assert len(sources(tool)) > 60
    for path, page in sources(tool).items():
        expected = Read(f"<article>{host.render((ROOT / path).read_text())}</article>")
        assert read[page].elements == expected.elements, path
        assert read[page].text == expected.text, path


def test_every_page_is_in_the_navigation(read, pages):
    """As the landing page shows it. What shows a source file is reached by links."""
    links = re.findall(r'<a href="([^"#]+)" class="md-nav__link', (pages / "index.html").read_text())
    shown = {posixpath.normpath(posixpath.join(link, "index.html")) for link in links}
    assert {page for page in read if not page.startswith("source/")} == shown


def test_no_link_and_no_anchor_is_broken(read, pages):
    """Of links and of what is loaded, wherever they are: in texts, in the navigation, in the theme."""
    broken = []
    for page, found in read.items():
        for link in (*found.links, *found.loaded):
            split = urlsplit(link)
            if split.scheme or split.netloc:
                continue
            path = (
                posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(split.path)))
                if split.path
                else page
            )
            path = posixpath.join(path, "index.html") if (pages / path).is_dir() else path
            path = posixpath.normpath(path)
            anchors = read[path].anchors if path in read else {""}
            if not (pages / path).is_file() or unquote(split.fragment) not in anchors | {""}:
                broken.append((page, link))
    assert sum(len(found.links) for found in read.values()) > 10_000
    assert broken == []


def test_no_page_loads_anything_from_elsewhere(read, pages):
    assert {link for found in read.values() for link in found.loaded if ELSEWHERE.match(link)} == set()
    styles = "\n".join(path.read_text() for path in pages.rglob("*.css"))
    addresses = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)", styles)
    assert len(addresses) > 10
    assert [address for address in addresses if ELSEWHERE.match(address)] == []


def test_every_picture_has_a_text_that_says_what_it_shows(read):
    texts = [text for found in read.values() for text in found.alternatives]
    assert len(texts) > 25
    assert [text for text in texts if len(text.split()) < 4] == []


def test_a_search_finds_every_public_name_and_page(read, tool, pages):
    index = json.loads((pages / "search" / "search_index.json").read_text())["docs"]
    titles = {re.sub(r"<[^>]+>", "", entry["title"]).split()[0] for entry in index if entry["title"]}
    names = {name.path for name in tool("site_reference").public_names(ROOT)}
    assert len(names) > 200
    assert names - titles == set()
    found = {entry["location"].partition("#")[0] + "index.html" for entry in index}
    assert {page for page in read if not page.startswith("source/")} == found


def test_every_public_name_is_an_anchor_of_the_page_of_its_module(read, tool):
    """So that others can link to it by its name, wherever it is defined."""
    for name in tool("site_reference").public_names(ROOT):
        page = f"reference/{'.'.join(name.module.split('.')[:2])}/index.html"
        assert name.path in read[page].anchors, name
