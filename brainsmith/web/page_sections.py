"""The page's other sections: warnings, graphs, plugins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from brainsmith import figures
from brainsmith.graph_drawing.operator_families import FAMILIES
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, fields, first_text, items
from brainsmith.web.elements import graph_frame, message, scrolling, section, sentence
from brainsmith.web.graph import Drawing


def warnings_section(warnings: Sequence[str]) -> Markup:
    """List the warnings, or say that there are none."""
    if not warnings:
        return section("warnings", "Warnings", sentence("The build gave no warnings."))
    listed = tag("ul", [tag("li", message(warning)) for warning in warnings], class_="warnings")
    return section("warnings", figures.plural(len(warnings), "warning"), listed)


def graphs_section(before: Drawing | None, after: Drawing | None, failed: bool = False) -> Markup:
    """Show the two graphs side by side; of a failed build the last good one."""
    if not before and not after:
        words = "The report holds no graph: the build ended before it was drawn."
        return section("graphs", "Graphs", sentence(words))
    used = {name for drawing in (before, after) if drawing for name in drawing.families}
    keys = [tag("li", words, class_=f"key {name}") for name, words in FAMILIES.items() if name in used]
    legend = tag("ul", keys, class_="legend")
    pair = [
        _graph("before", "Before", "the model as it was given", before),
        _graph("after", "After", "the last good model" if failed else "what the build made of it", after),
    ]
    return section("graphs", "Graphs", legend, tag("div", pair, class_="pair"))


def _graph(key: str, title: str, what: str, drawing: Drawing | None) -> Markup:
    if drawing is None:
        caption = tag("figcaption", tag("h3", title), tag("p", what))
        return tag("figure", caption, sentence(f"No graph of {what} is in the report."), class_="graph-frame")
    lost = figures.plural(drawing.dangling, "edge")
    absent = f"; {lost} of absent nodes left out" if drawing.dangling else ""
    canvas = scrolling(f"Graph {title.lower()}: {what}", drawing.svg, "canvas", data_graph=key)
    panel = tag("div", class_="details", data_details=key, aria_live="polite", hidden=True)
    return graph_frame(title, what + absent, canvas, panel, tools=key)


def plugins_section(found: object) -> Markup:
    """List all loaded plugins by framework.

    Args:
        found: The report's `plugins`.
    """
    plugins = [plugin for plugin in map(fields, items(found)) if plugin]
    if not plugins:
        return section("plugins", "Plugins", sentence("The report names no loaded plugin."))
    ordered = sorted(plugins, key=lambda one: [first_text(one, key) for key in ("framework", "type", "name")])
    groups = [
        _plugin_group(name, list(group))
        for name, group in groupby(ordered, key=lambda plugin: first_text(plugin, "framework"))
    ]
    note = f"{figures.plural(len(plugins), 'plugin')} loaded for this build, and no other."
    return section("plugins", "Plugins", tag("div", groups, class_="groups"), note=note)


def _plugin_group(framework: str, group: list[Fields]) -> Markup:
    title = tag("h3", framework or "no framework stated", " ", tag("span", len(group), class_="amount"))
    rows = []
    for plugin in group:
        name, kind, *origin = (first_text(plugin, key) for key in ("name", "type", "version", "origin"))
        note = " ".join(part for part in origin if part)
        words = [tag("span", name, class_="name"), tag("span", kind, class_="kind")]
        rows.append(tag("li", words, title=note or None))
    return tag("div", title, tag("ul", rows, class_="plugins"), class_="group")
