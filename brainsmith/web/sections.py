"""The page's other sections: warnings, graphs, plugins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from brainsmith import figures
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.families import FAMILIES
from brainsmith.web.content import Plugin
from brainsmith.web.elements import message, scrolling, section, sentence
from brainsmith.web.graph import Drawing


def warnings_section(warnings: Sequence[str]) -> Markup:
    """List the warnings, or say that there are none."""
    if not warnings:
        return section("warnings", "Warnings", sentence("The build gave no warnings."))
    title = figures.plural(len(warnings), "warning")
    return section(
        "warnings", title, tag("ul", [tag("li", message(warning)) for warning in warnings], class_="warnings")
    )


def graphs_section(before: Drawing | None, after: Drawing | None, failed: bool = False) -> Markup:
    """Show the two graphs side by side; of a failed build the last good one."""
    if not before and not after:
        return section(
            "graphs", "Graphs", sentence("The report holds no graph: the build ended before it was drawn.")
        )
    used = {name for drawing in (before, after) if drawing for name in drawing.families}
    keys = [tag("li", words, class_=f"key {name}") for name, words in FAMILIES.items() if name in used]
    legend = tag("ul", keys, class_="legend")
    pair = [
        _graph("before", "Before", "the model as it was given", before),
        _graph("after", "After", "the last good model" if failed else "what the build made of it", after),
    ]
    return section("graphs", "Graphs", legend, tag("div", pair, class_="pair"))


def _graph(key: str, title: str, what: str, drawing: Drawing | None) -> Markup:
    absent = (
        f"; {figures.plural(drawing.dangling, 'edge')} of absent nodes left out"
        if drawing and drawing.dangling
        else ""
    )
    caption = tag("figcaption", tag("h3", title), tag("p", what, absent))
    if drawing is None:
        return tag("figure", caption, sentence(f"No graph of {what} is in the report."), class_="graph-frame")
    bar = tag("div", class_="tools", data_tools=key, hidden=True)
    canvas = scrolling(f"Graph {title.lower()}: {what}", drawing.svg, "canvas", data_graph=key)
    panel = tag("div", class_="details", data_details=key, aria_live="polite", hidden=True)
    return tag("figure", tag("div", caption, bar, class_="head"), canvas, panel, class_="graph-frame")


def plugins_section(plugins: Sequence[Plugin]) -> Markup:
    """List all loaded plugins by framework."""
    if not plugins:
        return section("plugins", "Plugins", sentence("The report names no loaded plugin."))
    ordered = sorted(plugins, key=lambda plugin: (plugin.framework, plugin.type, plugin.name))
    groups = [
        _plugin_group(name, list(group))
        for name, group in groupby(ordered, key=lambda plugin: plugin.framework)
    ]
    note = f"{figures.plural(len(plugins), 'plugin')} loaded for this build, and no other."
    return section("plugins", "Plugins", tag("div", groups, class_="groups"), note=note)


def _plugin_group(framework: str, group: list[Plugin]) -> Markup:
    title = tag("h3", framework or "no framework stated", " ", tag("span", len(group), class_="amount"))
    rows = [
        tag(
            "li",
            tag("span", plugin.name, class_="name"),
            tag("span", plugin.type, class_="kind"),
            title=plugin.note or None,
        )
        for plugin in group
    ]
    return tag("div", title, tag("ul", rows, class_="plugins"), class_="group")
