"""What changed from catalogue to catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.markup import Markup, tag
from brainsmith.web.catalogue.page_frame import CHANGES, catalogue_page, kind
from brainsmith.web.elements import sentence

if TYPE_CHECKING:
    from brainsmith.web.catalogue.entry import CatalogueEntry

_LONGEST = 400


def changes_page(changes: Sequence[Mapping[str, Any]], entries: Mapping[str, CatalogueEntry]) -> str:
    """Return the page.

    Args:
        changes: The newest first.
        entries: All plugins, by their keys.
    """
    words = (
        "Each time that the catalogue was made anew and plugins had changed, the newest first."
        if changes
        else "Nothing has changed since the first catalogue in this folder."
    )
    head = tag("div", tag("h1", "Changes"), tag("p", words, class_="lead"), class_="page-head")
    return catalogue_page(
        "Changes",
        "",
        CHANGES,
        head,
        [_change(len(changes) - at, one, entries) for at, one in enumerate(changes)],
    )


def _change(number: int, change: Mapping[str, Any], entries: Mapping[str, CatalogueEntry]) -> Markup:
    counts = change["plugins"]
    before, after = (set(change["providers"][side]) for side in ("before", "after"))
    other = [
        *(f"{name} is new" for name in sorted(after - before)),
        *(f"{name} is gone" for name in sorted(before - after)),
    ]
    return tag(
        "section",
        tag("h2", f"Change {number}", id=f"change-{number}"),
        tag("p", f"From {plural(counts['before'], 'plugin')} to {counts['after']}.", class_="lead"),
        sentence(f"Providers: {', '.join(other)}.") if other else None,
        _listed("Added", change["added"], entries),
        _listed("Removed", change["removed"], entries),
        _listed("Changed", change["changed"], entries),
        class_="change",
    )


def _listed(
    title: str, plugins: Sequence[Mapping[str, Any]], entries: Mapping[str, CatalogueEntry]
) -> Markup | None:
    if not plugins:
        return None
    items = [tag("li", _named(one, entries), _fields(one.get("fields", {}))) for one in plugins]
    return tag(
        "div", tag("h3", f"{title}: {len(plugins)}"), tag("ul", items, class_="links"), class_="change-list"
    )


def _named(plugin: Mapping[str, Any], entries: Mapping[str, CatalogueEntry]) -> list[Markup]:
    words = f"{plugin['framework']}:{plugin['name']}"
    entry = entries.get(plugin["key"])
    name = tag("a", words, href=entry.address) if entry else tag("span", words)
    return [kind(plugin["type"]), Markup(" "), name]


def _fields(fields: Mapping[str, Mapping[str, Any]]) -> Markup | None:
    if not fields:
        return None
    pairs = [
        [
            tag("dt", name.replace("_", " ")),
            tag("dd", tag("del", _text(values["before"])), " ", tag("ins", _text(values["after"]))),
        ]
        for name, values in fields.items()
    ]
    return tag("dl", pairs, class_="differences")


def _text(value: Any) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, list):
        text = ", ".join(one if isinstance(one, str) else json.dumps(one) for one in value)
    else:
        text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()}…"
