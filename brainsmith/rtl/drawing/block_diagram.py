"""Draw a stitched design: layers with their cycles, weight memories, streams with their widths and FIFOs."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.graph_drawing.boxes import SMALL_CHARACTER, Box
from brainsmith.graph_drawing.graph_svg import STYLE, curve, graph_svg
from brainsmith.graph_drawing.layered import layered
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.theme import SANS, SVG, arrow, colours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.graph_drawing.layered import Point
    from brainsmith.rtl.drawing.block_plan import Block, Plan, Wire

MARKER = "arrow"
"""The id of the wires' heads, which the page defines."""
_LABEL_HEIGHT, _QUEUE = 16.0, 24.0  # of a label; of the part of it that shows a FIFO


def block_diagram(plan: Plan, title: str, places: Mapping[str, str] | None = None) -> Markup:
    """Draw a design as SVG, from its inputs at the top to its outputs.

    Args:
        plan: What to draw.
        title: For readers who do not see it.
        places: Ids of elements that layers lead to, by the layers' names.

    Returns:
        An element for a page that has `graph_svg.STYLE`, the colours and `MARKER`.
    """
    boxes = [_box(block, plan.busiest) for block in plan.blocks]
    ends = [(wire.source, wire.target) for wire in plan.wires]
    labels = [(_label_width(wire), _LABEL_HEIGHT) for wire in plan.wires]
    placed = layered([box.size for box in boxes], ends, frozenset(range(plan.inputs)), labels)
    wires = [
        _wire(wire, route, middle)
        for wire, route, middle in zip(plan.wires, placed.routes, placed.labels, strict=True)
        if middle
    ]
    blocks = [
        _block(block, box, corner, (places or {}).get(block.name))
        for block, box, corner in zip(plan.blocks, boxes, placed.corners, strict=True)
    ]
    return graph_svg(placed, title, title, wires, blocks)


def standing_alone(drawing: Markup) -> str:
    """Return a drawing as the content of an SVG file."""
    style = tag("style", Markup(f"svg{{--sans:{SANS};background:var(--page)}}{colours()}{STYLE}"))
    head, _, rest = drawing.partition(">")
    return f'{head} xmlns="{SVG}">{style}{tag("defs", arrow(MARKER))}{rest}\n'


def _box(block: Block, busiest: float) -> Box:
    """Say what a block shows; `busiest` are the largest cycles of any."""
    if block.is_port:
        return Box("Input", block.name, (), None)
    if block.is_memory:
        return Box("memory", "weights", (), None)
    cycles = plural(round(block.cycles), "cycle") if block.cycles else ""
    top = "bottleneck" if block.cycles and block.cycles == busiest else ""
    lines = (block.name, ", ".join(words for words in (cycles, top) if words))
    load = block.cycles / busiest if block.cycles else None
    kernel = re.sub(r"_(rtl|hls)$", "", block.kernel)
    return Box(block.kernel, kernel, tuple(line for line in lines if line), load)


def _block(block: Block, box: Box, corner: Point, place: str | None) -> Markup:
    """Draw a block; `place` is the id of the element that it leads to."""
    also = ("a stream of the design",) if block.is_port else (block.kernel, block.name)
    drawn = box.draw(corner, also)
    return tag("a", drawn, href=f"#{place}") if place else drawn


def _label_width(wire: Wire) -> float:
    return len(wire.label) * SMALL_CHARACTER + (_QUEUE + 8 if wire.depth else 8)


def _wire(wire: Wire, route: list[Point], middle: Point) -> Markup:
    """Draw a wire, which is open where its label is: 1.2 wide for a byte, and 0.45 more with each doubling of its bits."""
    thickness = 1.2 + 0.45 * max(0, int(wire.bits or 8).bit_length() - 4)
    x, y = middle
    at = next(
        at for at, (a, b) in enumerate(pairwise(route), 1) if a[0] == b[0] == x and (a[1] < y) != (b[1] < y)
    )
    half = math.copysign(_LABEL_HEIGHT / 2 if wire.label else 0, route[at][1] - y)
    path = curve([*route[:at], (x, y - half)]) + curve([(x, y + half), *route[at:]])
    line = tag("path", class_="wire", d=path, stroke_width=thickness, marker_end=f"url(#{MARKER})")
    return tag(
        "g", tag("title", wire.sentence), line, _label(wire, middle), class_="link", data_link=wire.name
    )


def _label(wire: Wire, middle: Point) -> list[Markup]:
    """Write a stream's width and, in the queue that it is, its FIFO's depth."""
    width, (x, y) = _label_width(wire), middle
    left, top = x - width / 2, y - _LABEL_HEIGHT / 2
    slots = "".join(f"M{left + 6 * at:.1f} {top:.1f}v{_LABEL_HEIGHT:.0f}" for at in (1, 2, 3))
    queue = tag("rect", x=left, y=top, width=width, height=_LABEL_HEIGHT, rx=2)
    shift = _QUEUE / 2 if wire.depth else 0
    return [
        *([tag("g", queue, tag("path", d=slots), class_="fifo")] if wire.depth else []),
        tag("text", wire.label, class_="bits", x=x + shift, y=y + 4, text_anchor="middle"),
    ]
