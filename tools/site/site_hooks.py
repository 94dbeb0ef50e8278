"""What MkDocs calls while it builds the site: pages that lie outside of `docs`, the reference, and links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import site_links
from mkdocs.structure.files import File, InclusionLevel
from site_navigation import navigation
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


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page that is a file of the repository lead to where the site has their files."""
    path = _FILES.get(page.file.src_uri)
    if path == site_links.FIRST:
        page.meta["hide"] = ["toc"]  # the room is the block diagram's
    return site_links.rewrite(markdown, path, _root(config)) if path else markdown


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
