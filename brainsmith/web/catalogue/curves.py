"""What a backend's layer needs, drawn over its parallelism: one small chart of each figure that is not always the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from brainsmith import figures
from brainsmith.markup import Markup, tag
from brainsmith.web.catalogue.data_sheet import FIGURES
from brainsmith.web.elements import cell, table

if TYPE_CHECKING:
    from brainsmith.web.catalogue.data_sheet import DataSheet

TITLES = {
    "cycles": "Cycles of a frame", "lut": "LUT", "ff": "Flip-flops", "bram18": "Block RAMs of 18 Kbit", "dsp": "DSP slices",
    "uram": "UltraRAMs",
}  # fmt: skip
WIDE, HIGH = 340, 210
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 12, 36
MOST_LINES = 6
LOGARITHMIC = 30
"""From which ratio of the greatest value to the least an axis is logarithmic."""
_STEPS = (1, 2, 2.5, 5, 10)


def curve_charts(sheet: DataSheet) -> list[Markup]:
    """Return charts and a legend; nothing where there is only one point, or nothing to vary."""
    if not sheet.attributes or len(sheet.points) < 2:
        return []
    lines = _lines(sheet)
    drawn = [name for name in FIGURES if len({point[name] for point in sheet.points}) > 1]
    legend = [
        tag("li", tag("span", class_=f"swatch line-{at}"), words) for at, words in enumerate(lines) if words
    ]
    charts = [_chart(name, sheet.attributes[0], lines) for name in drawn]
    return [
        tag("ul", legend, class_="curve-legend") if legend else Markup(""),
        tag("div", charts, class_="curves"),
    ]


def figure_table(sheet: DataSheet) -> Markup:
    """Return all points as a table."""
    shown = [name for name in FIGURES if any(point[name] for point in sheet.points)]
    columns = [*sheet.attributes, *(TITLES[name] for name in shown)]
    rows = [
        tag("tr", [cell(figures.count(point[name])) for name in (*sheet.attributes, *shown)])
        for point in sheet.points
    ]
    return table("What the layer needs", columns, rows, range(len(columns)))


def constant_figures(sheet: DataSheet) -> str:
    """Return the resources that are the same whatever the parallelism, as a sentence; empty if all vary."""
    if len(sheet.points) < 2:
        return ""
    same = [
        f"{TITLES[name]}: {figures.count(sheet.points[0][name])}"
        for name in FIGURES
        if len({point[name] for point in sheet.points}) == 1 and sheet.points[0][name]
    ]
    return f"The same for each: {', '.join(same)}." if same else ""


Line = Sequence[Mapping[str, int]]


def _lines(sheet: DataSheet) -> dict[str, Line]:
    """Return the points of each line, by the values of the further attributes; the text is empty where there are none."""
    rest = sheet.attributes[1:]
    found: dict[str, list[dict[str, int]]] = {}
    for point in sheet.points:
        found.setdefault(", ".join(f"{name} {point[name]}" for name in rest), []).append(point)
    kept = list(found)[:MOST_LINES]
    return {words: sorted(found[words], key=lambda point: point[sheet.attributes[0]]) for words in kept}


def _chart(name: str, along: str, lines: Mapping[str, Line]) -> Markup:
    points = [point for line in lines.values() for point in line]
    marks = sorted({point[along] for point in points})
    across = _Scale(marks[0], marks[-1], LEFT + 10, WIDE - RIGHT - 8, logarithmic=True)
    low, high = min(point[name] for point in points), max(point[name] for point in points)
    logarithmic = low > 0 and high / low > LOGARITHMIC
    ticks = decades(low, high) if logarithmic else nice_ticks(high)
    up = _Scale(ticks[0], ticks[-1], HIGH - BOTTOM, TOP, logarithmic)
    grid = [
        [
            tag("line", x1=LEFT, x2=WIDE - RIGHT, y1=up(tick), y2=up(tick), class_="grid-line"),
            tag("text", _short(tick), x=LEFT - 7, y=up(tick) + 4, text_anchor="end"),
        ]
        for tick in ticks
    ]
    labels = [
        tag("text", figures.count(mark), x=across(mark), y=HIGH - BOTTOM + 16, text_anchor="middle")
        for mark in _apart(marks, across)
    ]
    axis = tag("text", along, x=(LEFT + WIDE - RIGHT) / 2, y=HIGH - 4, text_anchor="middle", class_="axis")
    drawn = [
        _line(at, line, name, along, words, across, up) for at, (words, line) in enumerate(lines.items())
    ]
    title = f"{TITLES[name]} over {along}"
    spoken = f"{title}: {_spoken(lines, name, along)}"
    svg = tag(
        "svg", grid, labels, axis, drawn, viewBox=f"0 0 {WIDE} {HIGH}", role="img", aria_label=spoken, class_="curve"
    )  # fmt: skip
    return tag("figure", tag("figcaption", TITLES[name]), svg, class_="curve-figure")


def _line(at: int, line: Line, name: str, along: str, words: str, across: _Scale, up: _Scale) -> Markup:
    """Draw a line and its points, each with its value for who hovers over it."""
    places = [(across(point[along]), up(point[name])) for point in line]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    beside = f", {words}" if words else ""
    dots = [
        tag(
            "circle",
            tag("title", f"{along} {point[along]}{beside}: {figures.count(point[name])}"),
            cx=round(x, 1), cy=round(y, 1), r=3.2,
        )
        for (x, y), point in zip(places, line, strict=True)
    ]  # fmt: skip
    return tag("g", tag("path", d=path), dots, class_=f"line-{at}")


class _Scale:
    """A number's place on an axis."""

    def __init__(self, low: float, high: float, start: float, end: float, logarithmic: bool) -> None:
        self._log = logarithmic
        self._low, self._high = (math.log2(low), math.log2(high)) if logarithmic else (low, high)
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        at = math.log2(value) if self._log else value
        span = self._high - self._low
        share = (at - self._low) / span if span else 0.5
        return self._start + share * (self._end - self._start)


def decades(low: float, high: float) -> list[float]:
    """Return powers of ten from at most the least value to at least the greatest."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]


def nice_ticks(most: float) -> list[float]:
    """Return round numbers from 0 up to at least the greatest value, at most six of them."""
    if most <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(one * power for one in _STEPS if one * power * 4 >= most * 0.999)
    step = max(step, 1.0)
    return [at * step for at in range(math.ceil(most / step - 1e-9) + 1)]


def _apart(marks: Sequence[int], across: _Scale) -> list[int]:
    """Return the marks of an axis whose texts do not touch."""
    kept: list[int] = []
    for mark in marks:
        if not kept or across(mark) - across(kept[-1]) >= 22:
            kept.append(mark)
    return kept


def _short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:,.10g}"


def _spoken(lines: Mapping[str, Line], name: str, along: str) -> str:
    said = []
    for words, line in lines.items():
        first, last = line[0], line[-1]
        begin = f"with {words} " if words else ""
        said.append(
            f"{begin}{figures.count(first[name])} at {along} {first[along]}, {figures.count(last[name])} at {last[along]}"
        )
    return "; ".join(said)
