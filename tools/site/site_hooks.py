"""What MkDocs calls while it builds the site: pages that lie outside of `docs`, the reference, and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import site_links
from mkdocs.structure.files import File, InclusionLevel
from site_reference import reference_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_FILES: dict[str, str] = {}
"""The file of the repository that each page is made from, by the page's address; MkDocs calls functions, which share it."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the README, what the pages lead to outside of `docs`, and the reference."""
    root = _root(config)
    for path in site_links.shown_files(root):
        address = site_links.address(path)
        _FILES[address] = path
        if not path.startswith(site_links.DOCS):
            files.append(_added(path, address, config))
    for address, text in reference_pages(root).items():
        files.append(File.generated(config, address, content=text))
    pages = [file.src_uri for file in files.documentation_pages()]
    config.nav = navigation(config.nav, pages)
    return files


def navigation(nav: Any, pages: Sequence[str]) -> Any:
    """Return a navigation in which each folder, which is a name that ends with a slash, is all of its pages that are not named.

    Args:
        nav: A page, a title and what is below it, or a list of both, as mkdocs.yml has them.
        pages: The addresses of all pages.
    """
    named = set(_named(nav))

    def filled(entry: Any) -> list[Any]:
        if isinstance(entry, str) and entry.endswith("/"):
            return sorted(page for page in pages if page.startswith(entry) and page not in named)
        if isinstance(entry, dict):
            return [{title: below if isinstance(below, str) else fill(below) for title, below in entry.items()}]
        return [entry]

    def fill(entries: list[Any]) -> list[Any]:
        return [made for entry in entries for made in filled(entry)]

    return fill(nav)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page that is a file of the repository lead to where the site has their files."""
    path = _FILES.get(page.file.src_uri)
    return site_links.rewrite(markdown, path, _root(config)) if path else markdown


def _named(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _named(entry)


def _added(path: str, address: str, config: MkDocsConfig) -> File:
    file = _root(config) / path
    if path.endswith(".md"):
        return File.generated(config, address, content=file.read_text(encoding="utf-8"))
    if not address.endswith(".md"):
        return File.generated(config, address, abs_src_path=str(file))
    text = site_links.as_page(path, file.read_text(encoding="utf-8"))
    return File.generated(config, address, content=text, inclusion=InclusionLevel.NOT_IN_NAV)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent
