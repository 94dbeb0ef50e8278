"""All files of a catalogue: the same plugins and the same earlier catalogue give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from brainsmith.markup import clean
from brainsmith.web.catalogue.changes import compare, remembered
from brainsmith.web.catalogue.changes_page import changes_page
from brainsmith.web.catalogue.entry import CatalogueEntry
from brainsmith.web.catalogue.index_page import index_page
from brainsmith.web.catalogue.kernels_page import kernels_page
from brainsmith.web.catalogue.page_frame import CHANGES, INDEX, KERNELS, SCRIPT, STYLE
from brainsmith.web.catalogue.plugin_page import plugin_page
from brainsmith.web.catalogue.source_links import SourceLinks

SCHEMA = "brainsmith.catalogue/1"
DATA = "catalogue.json"


def catalogue_files(
    entries: Sequence[CatalogueEntry], links: SourceLinks, before: Mapping[str, Any] | None = None
) -> tuple[dict[str, bytes], dict[str, Any] | None]:
    """Return the contents of all files by their paths in the site, and what changed; None if nothing did.

    Args:
        entries: All plugins, in order.
        links: Where their sources are.
        before: What `catalogue.json` of the catalogue in this place holds; None if there is none.
    """
    plugins = _writable({one.key: one.to_plain() for one in entries})
    change = compare(before["plugins"], plugins) if before else None
    changes = remembered(change, before["changes"] if before else [])
    by_key = {one.key: one for one in entries}
    pages = {
        INDEX: index_page(entries, changes),
        KERNELS: kernels_page(by_key),
        CHANGES: changes_page(changes, by_key),
        **{one.address: plugin_page(one, by_key, links) for one in entries},
    }
    style = _resource("report.css") + _resource("catalogue/catalogue.css")
    texts = {**pages, STYLE: style, SCRIPT: _resource("catalogue/catalogue.js")}
    own = sorted({*texts, DATA} - {one.address for one in entries})
    data = {"schema": SCHEMA, "files": own, "plugins": plugins, "changes": changes}
    texts[DATA] = (
        json.dumps(data, ensure_ascii=False, indent=0, separators=(",", ":"), allow_nan=False) + "\n"
    )
    return {path: text.encode("utf-8", "replace") for path, text in texts.items()}, change


def _writable(value: Any) -> Any:
    """Return plain data whose texts UTF-8 can carry: what is read again is then what was compared."""
    if isinstance(value, dict):
        return {clean(key): _writable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_writable(one) for one in value]
    return clean(value) if isinstance(value, str) else value


def _resource(name: str) -> str:
    return files("brainsmith.web").joinpath(name).read_text("utf-8")
