"""Which kernels have which backends: a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.markup import Markup, tag
from brainsmith.plugin.info import BACKEND_TYPES
from brainsmith.web.catalogue.page_frame import KERNELS, catalogue_page
from brainsmith.web.catalogue.plugin_page import link_to
from brainsmith.web.elements import sentence, table

if TYPE_CHECKING:
    from brainsmith.web.catalogue.entry import CatalogueEntry


def kernels_page(entries: Mapping[str, CatalogueEntry]) -> str:
    """Return the page.

    Args:
        entries: All plugins, by their keys.
    """
    kernels = [one for one in entries.values() if one.info.type == "kernel"]
    columns = _columns([entries[key] for kernel in kernels for key in kernel.backends])
    lone = [one for one in entries.values() if one.info.type == "backend" and not one.kernels]
    without = sum(not one.backends for one in kernels)
    words = (
        f"{plural(len(kernels), 'kernel')}, {without} without a backend."
        if without
        else f"{plural(len(kernels), 'kernel')}."
    )
    head = tag("div", tag("h1", "Kernels and backends"), tag("p", words, class_="lead"), class_="page-head")
    rows = [_row(kernel, columns, entries) for kernel in kernels]
    heads = ["Kernel", "Framework", *(f"{kind.upper()} of {framework}" for kind, framework in columns)]
    content = (
        table("Kernels and their backends", heads, rows, set()) if rows else sentence("There are no kernels.")
    )
    return catalogue_page(
        "Kernels and backends", "", KERNELS, head, tag("div", content, class_="matrix"), _without_kernel(lone)
    )


def _columns(backends: Sequence[CatalogueEntry]) -> list[tuple[str, str]]:
    """Return type and framework of backends, as columns: RTL first."""
    found = {(one.info.backend_type or "", one.info.framework) for one in backends}
    return sorted(found, key=lambda column: (-_rank(column[0]), column[1]))


def _rank(backend_type: str) -> int:
    return BACKEND_TYPES.index(backend_type) if backend_type in BACKEND_TYPES else -1


def _row(
    kernel: CatalogueEntry, columns: Sequence[tuple[str, str]], entries: Mapping[str, CatalogueEntry]
) -> Markup:
    backends = [entries[key] for key in kernel.backends]
    cells = []
    for column in columns:
        here = [one for one in backends if (one.info.backend_type or "", one.info.framework) == column]
        links = [tag("li", link_to(one, "", one.info.name)) for one in here]
        cells.append(tag("td", tag("ul", links), class_="has") if here else tag("td", "–", class_="lacks"))
    name = tag("th", link_to(kernel, "", kernel.info.name), scope="row")
    return tag("tr", name, tag("td", kernel.info.framework), cells)


def _without_kernel(backends: Sequence[CatalogueEntry]) -> Markup | None:
    if not backends:
        return None
    listed = [
        tag("li", link_to(one, ""), tag("span", f" states {one.info.kernel!r}", class_="said"))
        for one in backends
    ]
    return tag(
        "section", tag("h2", "Backends of kernels that are not registered"), tag("ul", listed, class_="links")
    )
