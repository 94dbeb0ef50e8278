"""Colours and marks of drawings that stand alone, in light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIGHT = {
    "page": "#ffffff", "ink": "#17202b", "soft": "#51606f", "line": "#d8dde4", "line-strong": "#9aa5b2",
    "sunk": "#f0f2f5", "node": "#ffffff", "edge": "#7b8795", "track": "#e6eaf0", "bar": "#3f6fd6",
    "hot": "#c2410c", "port": "#17202b", "compute": "#3a62c9", "threshold": "#10806f", "arithmetic": "#a56a00",
    "movement": "#7c56b8", "other": "#76828f", "memory": "#76828f",
}  # fmt: skip
_DARK = {
    "page": "#10151b", "ink": "#e7ecf2", "soft": "#a3b0be", "line": "#2d3743", "line-strong": "#566273",
    "sunk": "#181f27", "node": "#1f2832", "edge": "#8494a6", "track": "#28323d", "bar": "#6f9cf5",
    "hot": "#ff9a5c", "port": "#e7ecf2", "compute": "#7ea4ff", "threshold": "#4fc9b5", "arithmetic": "#e0aa4c",
    "movement": "#bd9cf0", "other": "#93a0ae", "memory": "#93a0ae",
}  # fmt: skip
SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
SVG = "http://www.w3.org/2000/svg"


def read_style(file: str) -> str:
    """Return the rules of a style sheet of this folder, as they stand in a drawing."""
    return f"\n{Path(__file__).with_name(file).read_text('utf-8')}"


def colours() -> str:
    """Return the rules that name the colours; dark where the reader's screen is."""
    light, dark = (
        ";".join(f"--{name}:{value}" for name, value in theme.items()) for theme in (_LIGHT, _DARK)
    )
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def arrow(element_id: str, style: str = "arrow") -> Markup:
    """Define the head of an arrow, with a class of its own."""
    head = tag("path", d="M0 0L8 4L0 8z", class_=style)
    place = {"refX": 7.5, "refY": 4, "markerWidth": 8, "markerHeight": 8}
    return tag("marker", head, id=element_id, markerUnits="userSpaceOnUse", orient="auto", **place)


def svg_file(
    title: str, parts: Iterable[Any], width: int, height: int, style: str = "", defs: Iterable[Markup] = (),
    spoken: str = "",
) -> str:  # fmt: skip
    """Return a drawing as the content of an SVG file, in light and dark colours.

    Args:
        title: What is drawn.
        parts: What is drawn on the page.
        width: In pixels.
        height: In pixels.
        style: Rules beside the colours; `--sans` is the font.
        defs: Arrows and patterns.
        spoken: What a screen reader says; the title by default.
    """
    rules = f"svg{{--sans:{SANS};background:var(--page)}}{colours()}{style}"
    drawing = tag(
        "svg",
        tag("title", title),
        tag("style", Markup(rules)),
        tag("defs", defs),
        tag("rect", width=width, height=height, fill="var(--page)"),
        parts,
        xmlns=SVG,
        role="img",
        aria_label=spoken or title,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
    return f"{drawing}\n"
