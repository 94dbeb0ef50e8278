"""One row of a picture of handshakes: the link's name, its cycles, and where the frame begins and ends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.graph_drawing.boxes import shortened
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.block_plan import short_ends
from brainsmith.rtl.drawing.theme import read_style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.drawing.timeline import Timeline

BASE, BAR = 38, 20
"""Where the bars of a row stand, and how high they are."""

STYLE = read_style("handshake_rows.css")

_LETTERS, _SMALL_LETTERS = 34, 44
_LABEL = 14
_NUMBER = 6.8
_LINES = (13, 26)


def row_patterns() -> list[Markup]:
    """Define the fills that are told apart without colour: stripes for blocked, dots for starved."""
    stripes = tag("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class_="blocked-stripe")
    dots = [tag("circle", class_="starved-dot", cx=x, cy=x, r=0.8) for x in (1.25, 3.75)]
    return [
        _pattern("blocked", 6, stripes),
        _pattern("starved", 5, *dots),
    ]


def _pattern(name: str, size: int, *marks: Markup) -> Markup:
    ground = tag("rect", class_=f"{name}-ground", width=size, height=size)
    return tag("pattern", ground, marks, id=name, width=size, height=size, patternUnits="userSpaceOnUse")


def draw_row(link: Mapping[str, Any], time: Timeline, top: int) -> Markup:
    """Draw one link.

    Args:
        link: As `handshakes` gives it.
        time: The window.
        top: Of the row.
    """
    return tag(
        "g",
        tag("title", _sentence(link)),
        _frame(link["beats"], time),
        _label(link),
        tag("path", class_="base", d=f"M0 {BASE}H{time.width}"),
        _areas(link, time),
        _marks(link["beats"], time),
        class_="row",
        data_link=link["name"],
        transform=f"translate(0 {top})",
    )


def _sentence(link: Mapping[str, Any]) -> str:
    counts = [
        f"{what} in {plural(sum(end - begin for begin, end in link[what]), 'cycle')}"
        for what in ("moved", "blocked", "starved")
    ]
    return f"{link['name']}, {link['source']} to {link['target']}: {', '.join(counts)}"


def _label(link: Mapping[str, Any]) -> list[Markup]:
    """Write where a link comes from and leads to; of streams only those that are not a layer's usual ones."""
    fifo = f", FIFO {link['depth']:,}" if link["depth"] else ""
    more = f", {link['bits']:,} bit{fifo}"
    source, target = short_ends(str(link["source"]), str(link["target"]))
    below = f"to {shortened(target, _SMALL_LETTERS - 3 - len(more), 8)}{more}"
    return [
        tag("text", shortened(source, _LETTERS, 14), class_="name", x=-_LABEL, y=22, text_anchor="end"),
        tag("text", below, class_="more", x=-_LABEL, y=37, text_anchor="end"),
    ]


def _areas(link: Mapping[str, Any], time: Timeline) -> list[Markup]:
    """Draw what happened, on top of each other: a pixel's cycles fill it by their shares."""
    moved, blocked, starved = (time.shares(link[what]) for what in ("moved", "blocked", "starved"))
    held = [a + b for a, b in zip(moved, blocked, strict=True)]
    known = [a + b for a, b in zip(held, starved, strict=True)]
    drawn = []
    for style, shares, own in (
        ("starved", known, starved),
        ("blocked", held, blocked),
        ("moved", moved, moved),
    ):
        if any(own):
            shown = [share if mine else 0.0 for share, mine in zip(shares, own, strict=True)]
            drawn.append(tag("path", class_=style, d=time.steps(shown, BASE, BAR)))
    return drawn


def _frame(beats: list[int], time: Timeline) -> Markup | None:
    """Shade the cycles from the frame's first beat to its last."""
    begin, end = max(beats[0], time.begin), min(beats[1] + 1, time.end)
    if begin >= end:
        return None
    x = time.at(begin)
    return tag("rect", class_="frame", x=x, y=2, width=max(1.0, time.at(end) - x), height=BASE - 2)


def _marks(beats: list[int], time: Timeline) -> list[Markup]:
    """Mark the frame's first and last beat, each with its cycle."""
    places = [time.at(cycle + 0.5) for cycle in beats]
    rooms = [_NUMBER * len(f"{cycle:,}") + 6 for cycle in beats]
    lefts = _left_of_marks(places, rooms, time.width)
    # A short stay at the picture's edge leaves no room for two numbers side by side.
    both = time.shows(beats[0]) and time.shows(beats[1])
    lines = (_LINES[0], _LINES[both and _overlap(places, rooms, lefts)])
    marks = []
    for index, left in enumerate(lefts):
        x, cycle = places[index], beats[index]
        if time.shows(cycle):
            marks.append(tag("path", class_="edge", d=f"M{x:.1f} 3V{BASE + 2}"))
            place = {"x": x - 4 if left else x + 4, "text_anchor": "end" if left else "start"}
            kind = f"mark {('first', 'last')[index]}"
            marks.append(tag("text", f"{cycle:,}", class_=kind, y=lines[index], **place))
    return marks


def _overlap(places: list[float], rooms: list[float], lefts: tuple[bool, bool]) -> bool:
    """Tell whether two numbers would be written over each other."""
    begins = [x - room if left else x for x, room, left in zip(places, rooms, lefts, strict=True)]
    return begins[0] < begins[1] + rooms[1] and begins[1] < begins[0] + rooms[0]


def _left_of_marks(places: list[float], rooms: list[float], width: float) -> tuple[bool, bool]:
    """Decide which numbers stand left of their marks: between the marks if both fit there, else outside of them."""
    first, last = places
    if first >= 0 and last - first > sum(rooms):
        return False, True
    outside = first > rooms[0]
    return outside, last + rooms[1] > width or (not outside and last > width)
