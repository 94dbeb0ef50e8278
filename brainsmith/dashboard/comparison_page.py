"""Builds side by side: figures, steps, layers and schematics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from brainsmith import figures
from brainsmith.build.report_figures import figures_of
from brainsmith.dashboard.build_tree import FoundBuild
from brainsmith.dashboard.overview_page import build_address, dashboard_page
from brainsmith.markup import Child, Markup, tag
from brainsmith.report_fields import fields
from brainsmith.rtl.drawing.theme import arrow
from brainsmith.web.design_layers import read_layers
from brainsmith.web.elements import scrolling, section, sentence, table
from brainsmith.web.graph import draw
from brainsmith.web.graph_data import read_graph
from brainsmith.web.step_result import StepResult, read_steps
from brainsmith.web.subject import read_subject

_TITLES = {
    "fps": "Samples per second", "interval_cycles": "Interval in cycles", "latency_cycles": "Latency in cycles",
    "lut": "LUT", "ff": "Flip-flops", "bram18": "Block RAMs of 18 Kbit", "uram": "UltraRAMs", "dsp": "DSP slices",
    "cost": "Share of the device, summed", "fmax_mhz": "Clock reached in MHz", "accuracy": "Accuracy",
}  # fmt: skip
_SHARES = ("accuracy", "cost")

Show = Callable[[Any], str]


def comparison_page(builds: Sequence[FoundBuild]) -> str:
    """Return the page of some builds; what differs from the first that has it is marked."""
    head = tag(
        "div",
        tag("h1", "Builds side by side"),
        tag("ul", [_named(one) for one in builds], class_="links"),
        class_="page-head",
    )
    patterns = tag(
        "svg", tag("defs", arrow("arrow")), width=0, height=0, aria_hidden="true", class_="patterns"
    )
    return dashboard_page(
        "Builds side by side",
        patterns,
        head,
        _figures(builds),
        _steps(builds),
        _layers(builds),
        _schematics(builds),
    )


def _named(build: FoundBuild) -> Markup:
    subject = read_subject(build.report)
    said = ", ".join(filter(None, (subject.name, subject.blueprint, subject.part)))
    return tag(
        "li", tag("a", build.path, href=build_address(build.path)), " ", tag("span", said, class_="said")
    )


def _figures(builds: Sequence[FoundBuild]) -> Markup:
    found = [figures_of(one.report) for one in builds]
    rows = [
        _row(
            _TITLES.get(name, name),
            [one[name] for one in found],
            figures.percent if name in _SHARES else figures.count,
        )
        for name in found[0]
        if any(one[name] is not None for one in found)
    ]
    return section(
        "figures", "Figures", _table("Figures", builds, rows) if rows else sentence("None is known.")
    )


def _steps(builds: Sequence[FoundBuild]) -> Markup:
    found = [{f"{at + 1}": step for at, step in enumerate(read_steps(one.report))} for one in builds]
    rows = [_row(place, [one.get(place) for one in found], _step, _name) for place in _ordered(found)]
    note = "With the time that each took; a step that was reused took it in an earlier build."
    content = _table("Steps", builds, rows) if rows else sentence("No step ran.")
    return section("steps", "Steps", content, note=note if rows else "")


def _step(step: StepResult) -> str:
    taken = step.original_seconds if step.reused else step.seconds
    return f"{step.name}, {figures.seconds(taken)}{', reused' if step.reused else ''}"


def _name(step: StepResult | None) -> str | None:
    return step.name if step else None


def _layers(builds: Sequence[FoundBuild]) -> Markup:
    found = [
        {
            layer.name: (layer.op_type, layer.cycles, layer.resources.get("lut"))
            for layer in read_layers(one.report)
        }
        for one in builds
    ]
    rows = [_row(name, [one.get(name) for one in found], _layer) for name in _ordered(found)]
    content = _table("Layers", builds, rows) if rows else sentence("There are no hardware layers.")
    return section("layers", "Layers", content)


def _layer(value: tuple[str, float | None, float | None]) -> str:
    op_type, cycles, lut = value
    return f"{op_type}: {figures.count(cycles)} cycles, {figures.count(lut)} LUT"


def _ordered(found: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for one in found for name in one))


def _row(
    title: str, values: Sequence[Any], show: Show, key: Callable[[Any], Any] = lambda value: value
) -> Markup:
    """Write what builds have of one kind; what differs from the first that has it is marked, numbers with by how much.

    Args:
        title: Of the row.
        values: One for each build; None where it has none.
        show: Writes a value.
        key: What of a value is compared.
    """
    cells: list[Child] = []
    first = next(
        (value for value in values if value is not None), None
    )  # a build that failed has few figures
    for value in values:
        differs = key(value) != key(first)
        beside = tag("span", f" {_change(first, value, show)}", class_="beside") if differs else None
        written = "–" if value is None else show(value)
        cells.append(tag("td", written, beside, class_="differs" if differs else None))
    return tag("tr", tag("th", title, scope="row"), cells)


def _change(first: Any, value: Any, show: Show) -> str:
    """Say how far a number is from the first one: in points if both are shares."""
    if not isinstance(first, int | float) or not isinstance(value, int | float):
        return "differs"
    if show is figures.percent:
        return f"{(value - first) * 100:+.2f} points"
    return f"{value / first - 1:+.1%}" if first else "differs"


def _table(title: str, builds: Sequence[FoundBuild], rows: Sequence[Markup]) -> Markup:
    return table(title, (title.removesuffix("s"), *(one.path for one in builds)), rows, set())


def _schematics(builds: Sequence[FoundBuild]) -> Markup:
    drawn = []
    for at, one in enumerate(builds):
        layers = read_layers(one.report)
        graph = read_graph(fields(one.report.get("graphs")).get("after"), layers)
        title = f"The model after {one.path}"
        picture = draw(graph, layers, f"b{at}", title).svg if graph.nodes else sentence("There is no graph.")
        drawn.append(
            tag(
                "figure",
                tag("figcaption", one.path),
                scrolling(title, picture, "canvas"),
                class_="graph-frame",
            )
        )
    return section("schematics", "Schematics", tag("div", drawn, class_="side-by-side"))
