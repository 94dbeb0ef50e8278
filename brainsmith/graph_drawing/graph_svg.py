"""The drawing of a graph as one element: its frame, and its edges as curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.markup import Child, Markup, tag

if TYPE_CHECKING:
    from brainsmith.graph_drawing.layered import GraphLayout, Point

MARGIN = 14
# A taller drawing, in pixels, is printed over several pages, because on one it could not be read.
LONG = 2400
STYLE = f"\n{Path(__file__).with_name('graph.css').read_text('utf-8')}"
"""Rules for the classes of boxes and edges; the colours are those of the page that holds the drawing."""


def graph_svg(layout: GraphLayout, title: str, spoken: str, edges: Child, nodes: Child) -> Markup:
    """Frame a drawn graph.

    Args:
        layout: Its size.
        title: What it shows, in a few words.
        spoken: What it shows, for those who do not see it.
        edges: The drawn edges.
        nodes: The drawn nodes.
    """
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    groups = [tag("g", edges, class_="edges"), tag("g", nodes, class_="nodes")]
    return tag(
        "svg",
        tag("title", spoken),
        tag("g", groups, transform=f"translate({MARGIN} {MARGIN})"),
        class_="graph long" if height > LONG else "graph",
        role="group",
        aria_label=title,
        viewBox=f"0 0 {width:.1f} {height:.1f}",
        width=round(width),
        height=round(height),
    )


def curve(route: Sequence[Point]) -> str:
    """Return the path through points, by curves that leave and arrive vertically."""
    (x, y), *rest = route
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        if (to_x, to_y) == (x, y):
            continue
        if abs(to_x - x) < 0.5:
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(parts)
