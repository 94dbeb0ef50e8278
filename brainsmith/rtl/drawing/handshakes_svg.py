"""Draw one frame's handshakes: a row for each link, time along x, what moved, what was blocked, what was starved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.figures import plural
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.handshake_rows import STYLE as ROW_STYLE
from brainsmith.rtl.drawing.handshake_rows import draw_row, row_patterns
from brainsmith.rtl.drawing.theme import read_style, svg_file
from brainsmith.rtl.drawing.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARGIN, LABELS, PLOT = 24, 296, 1080
TOP, ROW, FOOT = 148, 46, 40
BINS, MOST_DETAIL = 50_000, 4
_STYLE = read_style("handshakes_svg.css")


def draw_handshakes(
    found: Mapping[str, Any],
    design: str,
    clock_ns: float | None = None,
    links: Sequence[str] | None = None,
    window: tuple[int, int] | None = None,
) -> str:
    """Draw the handshakes of a frame.

    Args:
        found: As `verification.handshakes.handshakes` gives them.
        design: The name of the design.
        clock_ns: Its clock period; None if it is not known.
        links: The names of those to draw; all by default. Inputs of the design come first, its outputs last.
        window: The cycles to draw, [begin, end) from the frame's first beat on; all by default.

    Returns:
        The content of an SVG file.
    """
    begin, end = window or (0, found["cycles"])
    rows = [link for link in ordered(found["links"]) if links is None or link["name"] in links]
    time = Timeline(begin, end, PLOT, _detail(len(rows)))
    height = TOP + ROW * len(rows) + FOOT
    drawn = [draw_row(link, time, ROW * index) for index, link in enumerate(rows)]
    body = [
        *_title(found, design, clock_ns, window),
        _legend(),
        tag(
            "g",
            _spans(found, time, clock_ns),
            _grid(time, ROW * len(rows)),
            drawn,
            transform=f"translate({MARGIN + LABELS} {TOP})",
        ),
    ]
    return svg_file(
        f"Handshakes of frame {found['frame']} of {design}", body, MARGIN + LABELS + PLOT + MARGIN, height,
        _STYLE + ROW_STYLE, (*row_patterns(), _head("head", "auto-start-reverse")),
    )  # fmt: skip


def ordered(links: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Put the links of the design's inputs first, those of its outputs last."""

    def place(link: Mapping[str, Any]) -> int:
        return 0 if "." not in link["source"] else 2 if "." not in link["target"] else 1

    return sorted(links, key=place)


def _detail(rows: int) -> int:
    """Return how many bins a pixel has: enough to zoom into, while the picture of a large design stays small."""
    return min(MOST_DETAIL, max(1, BINS // (PLOT * max(1, rows))))


def _head(element_id: str, orient: str) -> Markup:
    head = tag("path", d="M0 1L7 4L0 7z", class_="arrow")
    place = {"refX": 7, "refY": 4, "markerWidth": 8, "markerHeight": 8}
    return tag("marker", head, id=element_id, orient=orient, markerUnits="userSpaceOnUse", **place)


def _title(
    found: Mapping[str, Any], design: str, clock: float | None, window: tuple[int, int] | None
) -> list[Markup]:
    rate = f" at {1000 / clock:,.4g} MHz ({clock:g} ns a cycle)" if clock else ""
    shown = f" Shown: cycles {window[0]:,} to {window[1]:,}." if window else ""
    words = (
        f"{plural(found['cycles'], 'cycle')} from its first beat in to its last beat out{rate}. It began in cycle "
        f"{found['first_cycle']:,} after the reset; inputs come at the estimated rate.{shown}"
    )
    title = f"{design}, handshakes of frame {found['frame']}"
    return [
        tag("text", title, class_="title", x=MARGIN, y=34),
        tag("text", words, class_="soft", x=MARGIN, y=56),
    ]


def _legend() -> Markup:
    entries = (
        ("moved", "a beat moved"),
        ("blocked", "blocked: valid, not ready"),
        ("starved", "starved: ready, not valid"),
        ("frame", "from the frame's first beat to its last"),
    )
    parts: list[Markup] = []
    x = 0
    for style, words in entries:
        parts.append(tag("rect", class_=style, x=x, y=-11, width=26, height=13))
        parts.append(tag("text", words, x=x + 33, y=0))
        x += 33 + round(6.4 * len(words)) + 26
    rest = "Blank: neither. A bar of several cycles is as high as their share."
    parts.append(tag("text", rest, class_="soft", x=x, y=0))
    return tag("g", parts, class_="legend", transform=f"translate({MARGIN} 84)")


def _grid(time: Timeline, height: int) -> Markup:
    lines = [
        tag(
            "g",
            tag("path", class_="grid", d=f"M{time.at(tick):.1f} 0V{height}"),
            tag("text", f"{tick:,}", x=time.at(tick), y=height + 18, text_anchor="middle"),
            class_="tick",
        )
        for tick in time.ticks()
    ]
    axis = tag("path", class_="axis", d=f"M0 {height}H{time.width}")
    name = tag("text", "cycles since its first beat", class_="soft", x=-14, y=height + 18, text_anchor="end")
    return tag("g", lines, axis, name, class_="time")


def _spans(found: Mapping[str, Any], time: Timeline, clock: float | None) -> list[Markup | None]:
    """Draw latency and interval above the rows."""
    cycles, interval = found["cycles"], found["interval"]
    took = f" = {_time(cycles * clock)}" if clock else ""
    drawn = [_span(time, 0, cycles, f"latency at this rate {plural(cycles, 'cycle')}{took}", -30, "latency")]
    if interval:
        rate = f" = {1e9 / (interval * clock):,.0f} frames a second" if clock else ""
        words = f"interval {plural(interval, 'cycle')}{rate}"
        drawn.append(_span(time, 0, min(interval, cycles), words, -10, "interval"))
    return drawn


def _span(time: Timeline, begin: int, end: int, words: str, y: int, style: str) -> Markup | None:
    """Draw a span between arrows; an end outside of the window has none."""
    left, right = max(begin, time.begin), min(end, time.end)
    if left >= right:
        return None
    x, to_x = time.at(left), time.at(right)
    inside = to_x - x > 6.6 * len(words) + 30
    place = (x + to_x) / 2 if inside else to_x + 8
    gap = 3.3 * len(words) + 8
    if inside:
        lines = [(x, place - gap, begin >= time.begin, False), (place + gap, to_x, False, end <= time.end)]
    else:
        lines = [(x, to_x, begin >= time.begin, end <= time.end)]
    paths = []
    for a, b, *heads in lines:
        start, stop = ("url(#head)" if head else None for head in heads)
        line = f"M{a:.1f} {y}H{b:.1f}"
        paths.append(tag("path", class_="span", d=line, marker_start=start, marker_end=stop))
    anchor = "middle" if inside else "start"
    return tag("g", paths, tag("text", words, x=place, y=y + 4, text_anchor=anchor), class_=style)


def _time(nanoseconds: float) -> str:
    for scale, unit in ((1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"
