"""Draw a stitched design: layers with their cycles, weight memories, streams with their widths and FIFOs."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.operator_families import family
from brainsmith.rtl.drawing.placing import place
from brainsmith.rtl.drawing.theme import SANS, SVG, arrow, colours, read_style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.drawing.block_plan import Block, Plan, Wire
    from brainsmith.rtl.drawing.placing import Placed, Point

WIDTH, HEIGHT = 164.0, 80.0
PORT_HEIGHT = 30.0
MEMORY_GAP, MEMORY_HEIGHT = 26.0, 26.0
ROOM = 1212.0
# Widths of an average character in pixels, of the widest of the fonts that the theme names.
CHARACTER, SMALL_CHARACTER = 8.6, 6.4
LEFT = 14.0
MARKER = "arrow"
"""The id of the wires' heads, which the page defines."""
_CONNECTOR = HEIGHT / 2
_EDGE = 10

STYLE = read_style("block_diagram.css")
"""Rules for the drawing's classes; the colours are those of the page, or of `theme.colours`."""


def block_diagram(
    plan: Plan, title: str, places: Mapping[str, str] | None = None, room: float = ROOM
) -> Markup:
    """Draw a design as SVG.

    Args:
        plan: What to draw.
        title: For readers who do not see it.
        places: Ids of elements that layers lead to, by the layers' names.
        room: The width that the drawing may have.

    Returns:
        An element for a page that has `STYLE`, the colours and `MARKER`.
    """
    sizes = [_size(block) for block in plan.blocks]
    placed = place(sizes, [(wire.source, wire.target) for wire in plan.wires], room, _CONNECTOR)
    wires = [_wire(wire, route) for wire, route in zip(plan.wires, placed.routes, strict=True)]
    blocks = [
        _block(block, corner, plan.busiest, (places or {}).get(block.name))
        for block, corner in zip(plan.blocks, placed.corners, strict=True)
    ]
    return _frame(placed, title, [*wires, *blocks])


def _frame(placed: Placed, title: str, parts: list[Markup]) -> Markup:
    width, height = placed.width, placed.height + 2 * _EDGE
    return tag(
        "svg",
        tag("title", title),
        tag("g", parts, transform=f"translate(0 {_EDGE})"),
        class_="blocks",
        role="group",
        aria_label=title,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
    )


def standing_alone(drawing: Markup) -> str:
    """Return a drawing as the content of an SVG file."""
    style = tag("style", Markup(f"svg{{--sans:{SANS};background:var(--page)}}{colours()}{STYLE}"))
    head, _, rest = drawing.partition(">")
    return f'{head} xmlns="{SVG}">{style}{tag("defs", arrow(MARKER))}{rest}\n'


def _size(block: Block) -> tuple[float, float]:
    if block.is_port:
        return max(64.0, len(block.name) * CHARACTER + 26), HEIGHT
    return WIDTH, HEIGHT + (MEMORY_GAP + MEMORY_HEIGHT if block.memory else 0)


def _cycles(cycles: float) -> str:
    return plural(round(cycles), "cycle")


def _block(block: Block, corner: Point, busiest: float, place: str | None) -> Markup:
    """Draw a block; `busiest` are the largest cycles of any, `place` the id of the element that it leads to."""
    at = f"translate({corner[0]:.1f} {corner[1]:.1f})"
    if block.is_port:
        return _port(block, at)
    top = bool(block.cycles) and block.cycles == busiest
    known = [block.kernel, block.name, _cycles(block.cycles) if block.cycles else ""]
    spoken = ", ".join(words for words in [*known, "bottleneck" if top else ""] if words)
    drawn = tag(
        "g",
        tag("title", spoken),
        tag("rect", class_="box", width=WIDTH, height=HEIGHT, rx=5),
        tag("rect", class_="strip", width=5, height=HEIGHT, rx=2),
        _texts(block, top),
        load_bar(block.cycles / busiest, LEFT, 71.0, WIDTH - 2 * LEFT) if block.cycles else None,
        class_=f"block {family(block.kernel)}{' top' if top else ''}",
        role="img",
        aria_label=spoken,
    )
    linked = tag("a", drawn, href=f"#{place}") if place else drawn
    return tag("g", linked, _memory(block.memory), transform=at)


def _port(block: Block, at: str) -> Markup:
    width, top = _size(block)[0], _CONNECTOR - PORT_HEIGHT / 2
    spoken = f"{block.name}, a stream of the design"
    return tag(
        "g",
        tag("title", spoken),
        tag("rect", class_="box", y=top, width=width, height=PORT_HEIGHT, rx=PORT_HEIGHT / 2),
        tag("text", block.name, class_="op", x=width / 2, y=top + 19, text_anchor="middle"),
        class_="block port",
        role="img",
        aria_label=spoken,
        transform=at,
    )


def _texts(block: Block, top: bool) -> list[Markup]:
    lines = heading(block.kernel, int((WIDTH - LEFT - 6) / CHARACTER))
    first = 19 if len(lines) > 1 else 26
    written = [tag("text", line, class_="op", x=LEFT, y=first + 15 * i) for i, line in enumerate(lines)]
    name = shortened(block.name, int((WIDTH - LEFT - 4) / SMALL_CHARACTER))
    written.append(tag("text", name, class_="name", x=LEFT, y=50))
    if block.cycles:
        written.append(tag("text", _cycles(block.cycles), x=LEFT, y=65))
    return [*written, *_sign()] if top else written


def _sign() -> list[Markup]:
    """Mark the bottleneck in words, on the upper edge of its box."""
    width = 80.0
    left = WIDTH - LEFT - width
    return [
        tag("rect", class_="sign", x=left, y=-8.0, width=width, height=16, rx=8),
        tag("text", "bottleneck", class_="sign-text", x=left + width / 2, y=3.5, text_anchor="middle"),
    ]


def load_bar(share: float, left: float, top: float, room: float) -> list[Markup]:
    """Draw a layer's share of the cycles of the busiest one as part of a line, which is so wide."""
    bar = {"x": left, "y": top, "height": 3, "rx": 1}
    return [
        tag("rect", class_="load-track", width=room, **bar),
        tag("rect", class_="load", width=max(1.0, share * room), **bar),
    ]


def _memory(wire: Wire | None) -> Markup | None:
    """Draw the memory of a layer's weights below it."""
    if wire is None:
        return None
    top, middle = HEIGHT + MEMORY_GAP, WIDTH / 2
    return tag(
        "g",
        tag("title", f"weights, {wire.sentence}"),
        tag("rect", class_="box", x=LEFT, y=top, width=WIDTH - 2 * LEFT, height=MEMORY_HEIGHT, rx=2),
        tag("text", "weights", x=middle, y=top + 17, text_anchor="middle"),
        _line(wire, f"M{middle} {top}V{HEIGHT + 2}"),
        tag("text", wire.width, class_="bits", x=middle + 10, y=top - 9),
        class_="memory",
        data_link=wire.name,
    )


def _line(wire: Wire, path: str) -> Markup:
    """Draw the line of a wire: 1.2 wide for a byte, and 0.45 more with each doubling of its bits."""
    thickness = 1.2 + 0.45 * max(0, int(wire.bits or 8).bit_length() - 4)
    return tag("path", class_="wire", d=path, stroke_width=thickness, marker_end=f"url(#{MARKER})")


def _wire(wire: Wire, route: list[Point]) -> Markup:
    (x, y), *rest = route
    path = f"M{x:.1f} {y:.1f}" + "".join(f"L{to_x:.1f} {to_y:.1f}" for to_x, to_y in rest)
    return tag(
        "g",
        tag("title", wire.sentence),
        _line(wire, path),
        _labels(wire, route),
        class_="link",
        data_link=wire.name,
    )


def _labels(wire: Wire, route: list[Point]) -> list[Markup]:
    """Write a stream's width, and its FIFO as a queue on the line with its depth."""
    x, y, lane = _label_place(route)
    above = ", ".join(words for words in (wire.width, wire.fifo if lane else "") if words)
    written = [tag("text", above, class_="bits", x=x, y=y - 11, text_anchor="middle")]
    if wire.depth:
        slots = [f"M{x - 11 + 5.5 * i:.1f} {y - 6:.1f}v12" for i in (1, 2, 3)]
        queue = tag("rect", x=x - 11, y=y - 6, width=22, height=12, rx=1)
        written.append(tag("g", queue, tag("path", d="".join(slots)), class_="fifo"))
    if wire.depth and not lane:
        written.append(tag("text", wire.fifo, x=x, y=y + 20, text_anchor="middle"))
    return written


def _label_place(route: list[Point]) -> tuple[float, float, bool]:
    """Find where a wire's texts stand: on its longest horizontal part, near the begin of one that is a lane."""
    pairs = [(a, b) for a, b in pairwise(route) if a[1] == b[1]]
    (x, y), (to_x, _) = max(pairs, key=lambda pair: abs(pair[1][0] - pair[0][0]))
    away = min(abs(to_x - x) / 2, 70.0)
    return x + (away if to_x > x else -away), y, len(route) > 4


def heading(kernel: str, room: int) -> list[str]:
    """Write a kernel's name in up to two lines, without its backend's ending: names are in camel case."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z_]+|_|[A-Z]", re.sub(r"_(rtl|hls)$", "", kernel))
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > room and len(lines) < 2:
            lines.append("")
        lines[-1] += word
    return [line if len(line) <= room else f"{line[: room - 1]}…" for line in lines]


def shortened(name: str, room: int, tail: int = 8) -> str:
    """Write a name with an ellipsis in its middle where there is no room for it; its end tells it from others."""
    tail = min(tail, room // 2)
    return name if len(name) <= room else f"{name[: room - tail - 1]}…{name[-tail:]}"
