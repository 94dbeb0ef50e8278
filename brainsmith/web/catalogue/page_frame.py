"""What all pages of a catalogue share: the top with the search, links between pages, and words for types."""

from __future__ import annotations

import re
from urllib.parse import quote

from brainsmith.markup import Child, Markup, tag
from brainsmith.web.html_file import site_page

STYLE, SCRIPT = "catalogue.css", "catalogue.js"
INDEX, KERNELS, CHANGES = "index.html", "kernels.html", "changes.html"
PLURALS = {
    "transform": "Transforms", "kernel": "Kernels", "backend": "Backends", "step": "Steps", "op": "Ops",
    "target": "Targets", "bundle": "Bundles",
}  # fmt: skip
"""What the plugins of a type are called."""

_LINKS = ((INDEX, "Plugins"), (KERNELS, "Kernels and backends"), (CHANGES, "Changes"))


def catalogue_page(title: str, root: str, here: str, *content: Child) -> str:
    """Return a page.

    Args:
        title: Of the page; the catalogue's own is put behind it.
        root: What leads from the page's folder to the site's: empty, or `../`.
        here: Which of the main pages it is, or belongs to.
        content: What is in the page's `main`.
    """
    links = [
        tag("a", words, href=f"{root}{address}", aria_current="page" if address == here else None)
        for address, words in _LINKS
    ]
    search = tag(
        "form",
        tag(
            "input",
            type="search",
            name="q",
            placeholder="Search all plugins",
            aria_label="Search all plugins",
            autocomplete="off",
        ),
        tag("kbd", "/", aria_hidden="true"),
        action=f"{root}{INDEX}",
        role="search",
        class_="finder",
    )
    brand = tag("a", tag("strong", "BrainSmith"), " catalogue", href=f"{root}{INDEX}", class_="brand-link")
    top = tag(
        "header",
        tag("div", brand, tag("nav", links, aria_label="Catalogue"), search, class_="bar-inside"),
        class_="top-bar",
    )
    skip = tag("a", "Skip to the content", href="#main", class_="skip")
    foot = tag("footer", tag("p", "Made by ", tag("code", "brainsmith catalogue")))
    main = tag("main", content, id="main", tabindex=-1)
    shown = title if title == "BrainSmith catalogue" else f"{title} · BrainSmith catalogue"
    return site_page(shown, f"{root}{STYLE}", f"{root}{SCRIPT}", skip, top, main, foot)


def kind(plugin_type: str) -> Markup:
    """Write the type of a plugin; its colour is the type's everywhere."""
    return tag("span", plugin_type, class_=f"kind-of {plugin_type}")


def filtered(root: str, **chosen: str) -> str:
    """Return the address of the index with filters chosen: `index.html#type=kernel`."""
    return f"{root}{INDEX}#" + "&".join(
        f"{name}={quote(clean_text(value), safe='')}" for name, value in chosen.items()
    )


def clean_text(text: str) -> str:
    """Return a text without characters that UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


_INLINE = re.compile(r"``?([^`\n]+)``?")


def prose(text: str) -> list[Child]:
    """Write a text with what stands between backticks as code."""
    parts = _INLINE.split(text)
    return [tag("code", part) if at % 2 else part for at, part in enumerate(parts)]
