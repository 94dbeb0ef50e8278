"""The facts beside a plugin's page: who provides it, where its source is, and what it states about itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from brainsmith.markup import Child, Markup, tag
from brainsmith.plugin.facts import bounds_of, extra_facts, node_of
from brainsmith.plugin.info import Priority
from brainsmith.web.catalogue.entry import PLACES
from brainsmith.web.catalogue.page_frame import clean_text, filtered

if TYPE_CHECKING:
    from brainsmith.web.catalogue.entry import CatalogueEntry
    from brainsmith.web.catalogue.source_links import SourceLinks

_ADDRESS = re.compile(r"https?://[^\s\"'<>]+")


def fact_list(entry: CatalogueEntry, links: SourceLinks, root: str = "../") -> Markup:
    """Write the facts that are known, as names and values."""
    info = entry.info
    facts: list[tuple[str, Child]] = [
        ("Provided by", str(entry.provider)),
        ("Version", info.version),
        ("Licence", entry.licence),
        ("Author", info.author),
        ("Source", _source(entry, links)),
        ("Object", tag("code", info.reference)),
        (
            "Bases",
            [tag("code", base, class_="item") for base in entry.details.bases] if entry.details else None,
        ),
        ("Node", node_of(info)),
        ("Requires", [tag("code", one, class_="item") for one in info.requires]),
        ("Requires plugins", [tag("code", one, class_="item") for one in info.requires_plugins]),
        ("Needs BrainSmith", " and ".join(bounds_of(info))),
        (
            "Priority",
            "" if info.priority == Priority.NORMAL else f"{info.priority} ({Priority.NORMAL} is normal)",
        ),
        ("Device types", ", ".join(info.device_types)),
        ("Tags", [tag("a", one, href=filtered(root, q=one), class_="item") for one in info.tags]),
    ]
    facts += [
        (name.capitalize(), _linked(value))
        for name, value in extra_facts(info)
        if name.replace(" ", "_") not in PLACES
    ]
    return tag(
        "dl", [(tag("dt", name), tag("dd", value)) for name, value in facts if value], class_="fact-list"
    )


def _source(entry: CatalogueEntry, links: SourceLinks) -> Child:
    if not entry.source:
        return entry.info.origin
    place = f"{entry.source}:{entry.info.line}" if entry.info.line else entry.source
    address = links.address(entry)
    return tag("a", place, href=clean_text(address)) if address else place


def _linked(text: str) -> Child:
    return tag("a", text, href=text) if _ADDRESS.fullmatch(text) else text
