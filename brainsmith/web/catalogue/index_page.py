"""The index: all plugins, which the script searches and filters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.markup import Markup, embed_json, tag
from brainsmith.web.catalogue.changes import LISTS
from brainsmith.web.catalogue.page_frame import CHANGES, INDEX, catalogue_page, kind

if TYPE_CHECKING:
    from brainsmith.web.catalogue.entry import CatalogueEntry

_WORD = re.compile(r"[^\W_]{2,}")
_LONGEST = 180
"""How much of a summary a row shows."""


def index_page(entries: Sequence[CatalogueEntry], changes: Sequence[Mapping[str, Any]]) -> str:
    """Return the page.

    Args:
        entries: All plugins, in order.
        changes: The newest first.
    """
    providers = sorted({str(one.provider) for one in entries})
    latest = changes[0] if changes else None
    marks = _marks(latest)
    named = {one.key: one for one in entries}
    rows = [_row(one, marks.get(one.key, "")) for one in entries]
    head = tag(
        "div",
        tag("h1", "Plugin catalogue"),
        tag(
            "p", f"{plural(len(entries), 'plugin')} from {', '.join(providers) or 'nowhere'}.", class_="lead"
        ),
        tag("p", tag("a", _said(latest), href=CHANGES), class_="lead") if latest else None,
        class_="page-head",
    )
    rows_or_none = (
        tag("ul", rows, id="plugins", class_="rows")
        if rows
        else tag("p", "There are no plugins.", class_="absent")
    )
    status = tag("p", plural(len(entries), "plugin"), role="status", id="found", class_="found-line")
    bar = tag("div", status, tag("div", id="chosen", class_="chosen"), class_="found-bar")
    nothing = tag("div", id="none", hidden=True, class_="nothing")
    results = tag("div", bar, rows_or_none, nothing, class_="results")
    shelf = tag("div", tag("div", id="filters", hidden=True, class_="filters"), results, class_="shelf")
    data = embed_json([_facets(one, named) for one in entries], "catalogue-data")
    return catalogue_page("BrainSmith catalogue", "", INDEX, head, shelf, data)


def _said(change: Mapping[str, Any] | None) -> str:
    if change is None:
        return ""
    counts = [f"{len(change[name])} {name}" for name in LISTS if change[name]]
    return f"Last change: {', '.join(counts) or 'other versions of providers'}"


def _marks(change: Mapping[str, Any] | None) -> dict[str, str]:
    """Return what the last change did to plugins: `new` or `changed`, by their keys."""
    if change is None:
        return {}
    return {
        **{one["key"]: "new" for one in change["added"]},
        **{one["key"]: "changed" for one in change["changed"]},
    }


def _row(entry: CatalogueEntry, mark: str) -> Markup:
    info = entry.info
    beside = [
        info.stage or "",
        info.kernel if info.type != "kernel" else "",
        (info.backend_type or "").upper(),
    ]
    if info.type == "kernel":
        beside = [f"{plural(len(entry.backends), 'backend')}" if entry.backends else "no backend"]
    summary = entry.summary
    if len(summary) > _LONGEST:
        summary = f"{summary[:_LONGEST].rstrip()}…"
    marked = tag("span", mark, class_="mark") if mark else None
    return tag(
        "li",
        tag("div", tag("a", info.name, href=entry.address), marked, class_="row-name"),
        tag("p", summary, class_="row-about") if summary else None,
        tag(
            "p",
            kind(info.type),
            [tag("span", one) for one in (info.framework, *beside) if one],
            class_="row-facts",
        ),
    )


def _facets(entry: CatalogueEntry, entries: Mapping[str, CatalogueEntry]) -> list[Any]:
    """Return what the script filters and searches by: type, framework, stage, kernels, backends, licence, words."""
    info = entry.info
    kernels = [info.name] if info.type == "kernel" else [entries[key].info.name for key in entry.kernels]
    types = [entries[key].info.backend_type for key in entry.backends] + [info.backend_type]
    return [
        info.type,
        info.framework,
        info.stage or "",
        sorted(set(kernels)),
        sorted({one for one in types if one}),
        entry.licence,
        _words(entry),
    ]


def _words(entry: CatalogueEntry) -> str:
    """Return the words of all that is known of a plugin, but for its name and summary, which the row shows."""
    info = entry.info
    parameters = entry.details.parameters if entry.details else ()
    extra = [str(info.extra.get(name, "")) for name in ("domain", "op_type", "display_name", "vendor")]
    texts = [
        *(*info.tags, *info.device_types, *extra, *(one.name for one in parameters)),
        *(entry.docstring, info.reference, info.kernel or "", str(entry.provider), info.author),
    ]
    shown = set(_WORD.findall(f"{info.name} {entry.summary}".lower()))
    return " ".join(sorted({word for text in texts for word in _WORD.findall(text.lower())} - shown))
