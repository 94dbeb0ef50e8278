"""Bar charts as SVG: one row per item, its name above its bar, so that they read at any width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from brainsmith.figures import plural
from brainsmith.markup import Markup, tag
from brainsmith.web.elements import scrolling

ROW_HEIGHT = 36
BAR_TOP, BAR_HEIGHT = 20, 9
# More rows than this scroll inside their frame, the largest first, so that what matters stays in view.
ROWS_IN_VIEW = 14
# A bar of a value above zero stays visible, in percent of the chart's width.
LEAST_WIDTH = 0.4


@dataclass(frozen=True)
class Bar:
    """One row of a chart.

    `style` is a class of the style sheet (plain, top, reused), `mark` a word beside the value that says the
    same without colour, `target` the id of the element that the row leads to.
    """

    name: str
    value: float | None
    style: str = "plain"
    mark: str = ""
    target: str = ""


def bar_chart(title: str, bars: Sequence[Bar], show: Callable[[float | None], str], note: str = "") -> Markup:
    """Draw a bar chart.

    Args:
        title: The chart's heading.
        bars: The rows, from top to bottom.
        show: Writes a value as text.
        note: A sentence under the heading.

    Returns:
        A figure. Its widths are percentages, so it needs no script to fit its place.
    """
    many = len(bars) > ROWS_IN_VIEW
    if many:
        bars = sorted(bars, key=lambda bar: -(bar.value or 0))
        note = f"{note}; the largest first" if note else "the largest first"
    largest = max((bar.value for bar in bars if bar.value is not None), default=0.0)
    rows = [_row(index, bar, largest, show) for index, bar in enumerate(bars)]
    drawing = tag(
        "svg",
        tag("title", title),
        rows,
        class_="bars",
        role="group",
        aria_label=f"{title}, bar chart with {plural(len(bars), 'row')}",
        width="100%",
        height=len(bars) * ROW_HEIGHT,
    )
    frame = scrolling(title, drawing, "tall") if many else drawing
    caption = tag("figcaption", tag("h3", title), tag("p", note) if note else None)
    return tag("figure", caption, frame, class_="chart")


def _row(index: int, bar: Bar, largest: float, show: Callable[[float | None], str]) -> Markup:
    value = max(0.0, bar.value or 0.0)
    share = max(LEAST_WIDTH, 100 * value / largest) if value and largest else 0.0
    shown = f"{show(bar.value)} {bar.mark}".strip()
    row = tag(
        "g",
        tag("title", f"{bar.name}: {shown}"),
        tag("rect", class_="hit", x=0, y=0, width="100%", height=ROW_HEIGHT),
        _clipped(bar.name),
        tag("text", shown, class_="value", x="100%", y=BAR_TOP - 6, text_anchor="end"),
        tag("rect", class_="track", x=0, y=BAR_TOP, width="100%", height=BAR_HEIGHT, rx=2),
        tag("rect", class_="bar", x=0, y=BAR_TOP, width=f"{share:.2f}%", height=BAR_HEIGHT, rx=2)
        if share
        else None,
        class_=f"row {bar.style}",
    )
    placed = tag("svg", row, y=index * ROW_HEIGHT, width="100%", height=ROW_HEIGHT)
    return tag("a", placed, href=f"#{bar.target}") if bar.target else placed


def _clipped(name: str) -> Markup:
    """Write a name that ends where the value begins (a nested svg clips what it holds)."""
    return tag("svg", tag("text", name, class_="name", x=0, y=BAR_TOP - 6), width="66%", height=BAR_TOP)
