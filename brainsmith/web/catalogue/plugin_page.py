"""The page of one plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from brainsmith.markup import Child, Markup, tag
from brainsmith.plugin.facts import usage_of
from brainsmith.web.catalogue.curves import constant_figures, curve_charts, figure_table
from brainsmith.web.catalogue.docstring_html import documentation
from brainsmith.web.catalogue.fact_list import fact_list
from brainsmith.web.catalogue.page_frame import INDEX, PLURALS, catalogue_page, filtered, kind, prose
from brainsmith.web.elements import scrolling, sentence, table
from brainsmith.web.wave_figure import picture_size, picture_source

if TYPE_CHECKING:
    from brainsmith.web.catalogue.data_sheet import DataSheet
    from brainsmith.web.catalogue.entry import CatalogueEntry
    from brainsmith.web.catalogue.source_links import SourceLinks

ROOT = "../"


def plugin_page(entry: CatalogueEntry, entries: Mapping[str, CatalogueEntry], links: SourceLinks) -> str:
    """Return the page.

    Args:
        entry: The plugin.
        entries: All plugins, by their keys.
        links: Where sources are.
    """
    info = entry.info
    trail = tag(
        "nav",
        tag("a", PLURALS[info.type], href=filtered(ROOT, type=info.type)),
        " / ",
        tag("a", info.framework, href=filtered(ROOT, framework=info.framework)),
        aria_label="Where this is",
        class_="trail",
    )
    summary = tag("p", prose(entry.info.description), class_="about-line") if entry.info.description else None
    heading = [
        trail,
        tag("h1", info.name),
        tag("p", kind(info.type), _states(entry), class_="states"),
        summary,
    ]
    body = tag(
        "div",
        _use(entry),
        _documentation(entry),
        _parameters(entry),
        _related(entry, entries),
        _sheet(entry.sheet),
        class_="page-body",
    )
    facts = tag("aside", tag("h2", "Facts"), fact_list(entry, links), aria_label="Facts", class_="page-facts")
    return catalogue_page(
        f"{info.name} ({info.type})", ROOT, INDEX, tag("div", heading, class_="page-head"),
        tag("div", body, facts, class_="page-columns"),
    )  # fmt: skip


def _part(key: str, title: str, *children: Child, note: str = "") -> Markup:
    """Write a part of the page. It has no label of its own, as a report's sections have: there are hundreds of pages."""
    return tag("section", tag("h2", title), tag("p", note, class_="lead") if note else None, children, id=key)


def link_to(entry: CatalogueEntry, root: str = ROOT, words: str = "") -> Markup:
    """Write a link to a plugin's page."""
    return tag("a", words or entry.info.qualified, href=f"{root}{entry.address}")


def _states(entry: CatalogueEntry) -> list[Child]:
    info = entry.info
    said = [info.framework, f"stage {info.stage}" if info.stage else "", (info.backend_type or "").upper()]
    return [tag("span", words, class_="state-of") for words in said if words]


def _use(entry: CatalogueEntry) -> Markup | None:
    """Say how the plugin is named, in Python and in a blueprint."""
    usage, info = usage_of(entry.info), entry.info
    if not usage:
        return None
    name = info.name if entry.is_meant else info.qualified
    code = f"from brainsmith.plugins import {info.type}s\n\n{usage}"
    blueprint = tag("p", "In a blueprint: ", tag("code", name))
    return _part("use", "Use", tag("pre", code, class_="code"), blueprint)


def _documentation(entry: CatalogueEntry) -> Markup:
    if entry.details is None:
        return _part(
            "documentation",
            "Documentation",
            sentence("Its source cannot be read, so nothing more is known of it."),
        )
    if not entry.docstring:
        return _part("documentation", "Documentation", sentence("It has no docstring."))
    return _part("documentation", "Documentation", tag("div", documentation(entry.docstring), class_="prose"))


def _parameters(entry: CatalogueEntry) -> Markup | None:
    if entry.details is None or entry.info.type == "bundle":
        return None
    if not entry.details.parameters:
        return _part("parameters", "Parameters", sentence("It takes none."))
    rows = [
        tag(
            "tr",
            tag("th", tag("code", one.name), scope="row"),
            tag("td", tag("code", one.annotation) if one.annotation else "–"),
            tag(
                "td",
                "required" if one.required else "–" if one.name.startswith("*") else tag("code", one.default),
            ),
            tag("td", "by name only" if one.keyword_only else ""),
        )
        for one in entry.details.parameters
    ]
    return _part(
        "parameters", "Parameters", table("Parameters", ("Name", "Type", "Default", "Note"), rows, set())
    )


def _related(entry: CatalogueEntry, entries: Mapping[str, CatalogueEntry]) -> list[Markup | None]:
    info = entry.info
    found: list[Markup | None] = []
    if info.type == "kernel":
        found.append(_backends(entry, entries))
    elif info.kernel:
        words = "The kernel that it implements." if info.type == "backend" else "The kernel that it infers."
        listed = [tag("li", link_to(entries[key]), " ", _said(entries[key])) for key in entry.kernels]
        content = (
            tag("ul", listed, class_="links")
            if listed
            else sentence(f"No kernel {info.kernel!r} is registered.")
        )
        found.append(_part("kernel", "Kernel", content, note=words))
    if entry.inferred_by:
        listed = [tag("li", link_to(entries[key]), " ", _said(entries[key])) for key in entry.inferred_by]
        found.append(_part("inferred-by", "Inferred by", tag("ul", listed, class_="links")))
    if entry.rivals:
        found.append(_rivals(entry, entries))
    return found


def _said(entry: CatalogueEntry) -> Markup:
    return tag("span", entry.summary, class_="said")


def _backends(entry: CatalogueEntry, entries: Mapping[str, CatalogueEntry]) -> Markup:
    if not entry.backends:
        return _part("backends", "Backends", sentence("No backend implements this kernel."))
    rows = []
    for key in entry.backends:
        one = entries[key]
        rows.append(
            tag(
                "tr",
                tag("th", link_to(one, words=one.info.name), scope="row"),
                tag("td", (one.info.backend_type or "").upper()),
                tag("td", one.info.framework),
                tag("td", one.summary, class_="fine"),
            )
        )
    columns = ("Backend", "Kind", "Framework", "What it is")
    note = (
        "In the order in which a build tries them, unless its blueprint names one." if len(rows) > 1 else ""
    )
    return _part("backends", "Backends", table("Backends", columns, rows, set()), note=note)


def _rivals(entry: CatalogueEntry, entries: Mapping[str, CatalogueEntry]) -> Markup:
    """Say who else has a plugin of this name, and which one the bare name means."""
    info = entry.info
    meant = (
        entry
        if entry.is_meant
        else next((entries[key] for key in entry.rivals if entries[key].is_meant), None)
    )
    if meant is None:
        note = f"The bare name {info.name!r} is ambiguous for a {info.type}: write one with its framework."
    elif meant is entry:
        note = f"The bare name {info.name!r} means this one."
    else:
        note = f"The bare name {info.name!r} means {meant.info.qualified}."
    listed = [tag("li", link_to(entries[key]), " ", _said(entries[key])) for key in entry.rivals]
    return _part("same-name", "Others of this name", tag("ul", listed, class_="links"), note=note)


def _sheet(sheet: DataSheet | None) -> list[Markup]:
    if sheet is None:
        return []
    found = []
    size = picture_size(sheet.timing)
    if size is not None:
        image = tag(
            "img",
            src=picture_source(sheet.timing),
            alt="Clock, and valid, ready and data of each stream, cycle by cycle",
            width=size[0],
            height=size[1],
        )
        note = "The core, simulated with ends that stall now and then."
        found.append(_part("timing", "Timing", scrolling("Timing diagram", image, "timing-frame"), note=note))
    if sheet.points:
        content: list[Child] = [*curve_charts(sheet)]
        constant = constant_figures(sheet)
        every = (
            tag("details", tag("summary", "All figures"), figure_table(sheet))
            if content
            else figure_table(sheet)
        )
        what = f"For {sheet.case}, by" if sheet.case else "By"
        note = f"{what} the formulas that builds use."
        found.append(
            _part(
                "resources", "Resources", content, sentence(constant) if constant else None, every, note=note
            )
        )
    return found
