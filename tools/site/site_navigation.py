"""The navigation of mkdocs.yml, in which a folder stands for its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def navigation(nav: Any, pages: Sequence[str]) -> list[Any]:
    """Return a navigation in which each folder, a name that ends with a slash, is replaced by its pages that are not named.

    Args:
        nav: Entries as mkdocs.yml has them: each is an address, or a title with an address or entries below it.
        pages: The addresses of all pages.
    """
    named = set(named_pages(nav))

    def filled(entry: Any) -> list[Any]:
        if isinstance(entry, str) and entry.endswith("/"):
            below = [page for page in pages if page.startswith(entry) and page not in named]
            return sorted(below, key=lambda page: page.removesuffix(".md"))
        if isinstance(entry, dict):
            return [
                {title: below if isinstance(below, str) else fill(below) for title, below in entry.items()}
            ]
        return [entry]

    def fill(entries: Sequence[Any]) -> list[Any]:
        return [made for entry in entries for made in filled(entry)]

    return fill(nav)


def named_pages(nav: Any) -> Iterator[str]:
    """Yield all addresses in a navigation, those below titles included."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from named_pages(entry)
