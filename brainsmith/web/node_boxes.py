"""Draw one node of a graph: a box with its operator, type, shape, and a hardware layer's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainsmith.figures import plural
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.block_diagram import load_bar
from brainsmith.rtl.drawing.operator_families import family
from brainsmith.rtl.drawing.placing import Point
from brainsmith.web.design_layers import DesignLayer
from brainsmith.web.graph_data import Node
from brainsmith.web.report_fields import text

# Widths of an average character in pixels, of the widest of the fonts that the style sheet names.
CHARACTER, SMALL_CHARACTER = 7.9, 6.2
LEAST_WIDTH, MOST_WIDTH = 104, 280
PLAIN_HEIGHT, LAYER_HEIGHT, PORT_HEIGHT = 42, 62, 30
LEFT = 13  # where a node's texts begin


@dataclass(frozen=True)
class Box:
    """What a node shows: heading, a line of type and shape, and for a hardware layer its figures.

    `load` is the layer's share of the cycles of the busiest layer, which is the bottleneck.
    """

    node: Node
    heading: str
    line: str
    figures: str
    load: float | None
    family: str
    width: float
    height: float

    @classmethod
    def of(cls, node: Node, layers: Sequence[DesignLayer], busiest: float) -> Box:
        """Measure a node; `busiest` is the largest number of cycles of any layer."""
        layer = None if node.layer is None else layers[node.layer]
        kind = family(node.op_type)
        heading = (node.name if kind == "port" else node.op_type) or node.name
        line = "  ".join(part for part in (node.datatype, node.shape) if part)
        figures = _figures(layer) if layer else ""
        load = layer.cycles / busiest if layer and layer.cycles is not None and busiest else None
        height = LAYER_HEIGHT if layer else PLAIN_HEIGHT if line else PORT_HEIGHT
        wanted = max(len(heading) * CHARACTER, max(len(line), len(figures)) * SMALL_CHARACTER) + 26
        width = min(MOST_WIDTH, max(LEAST_WIDTH, wanted))
        return cls(node, heading, line, figures, load, kind, round(width), height)

    def fit(self, words: str, character: float) -> str:
        """Shorten a text to the box, for characters of the given width in pixels."""
        room = int((self.width - 20) / character)
        return words if len(words) <= room else f"{words[: room - 1]}…"


def _figures(layer: DesignLayer) -> str:
    found = {key: layer.attributes.get(key) for key in ("PE", "SIMD")}
    parallel = [f"{key} {text(value)}" for key, value in found.items() if value is not None]
    cycles = "" if layer.cycles is None else plural(layer.cycles, "cycle")
    return " · ".join(part for part in (layer.backend, *parallel, cycles) if part)


def draw_node(element_id: str, box: Box, corner: Point) -> Markup:
    """Draw a node at its place; its title and label say everything that it shows, and its name."""
    port, top = box.family == "port", box.load == 1
    shown = [box.heading, box.line, box.figures, box.node.op_type, box.node.name, "bottleneck" if top else ""]
    spoken = ", ".join(dict.fromkeys(words for words in shown if words))
    radius = box.height / 2 if port else 5
    return tag(
        "g",
        tag("title", spoken),
        tag("rect", class_="box", width=box.width, height=box.height, rx=radius),
        None if port else tag("rect", class_="strip", width=5, height=box.height, rx=2),
        _texts(box),
        None if box.load is None else load_bar(box.load, LEFT, 54, box.width - 2 * LEFT),
        id=element_id,
        class_=f"node {box.family}{' top' if top else ''}",
        role="img",
        aria_label=spoken,
        transform=f"translate({corner[0]:.1f} {corner[1]:.1f})",
    )


def _texts(box: Box) -> list[Markup]:
    """Write up to three lines, with white space between them for those who hear the page."""
    first = 18 if box.height > PORT_HEIGHT else 19
    lines = [tag("text", box.fit(box.heading, CHARACTER), class_="op", x=LEFT, y=first)]
    for words, y in ((box.line, 34), (box.figures, 49)):
        if words:
            lines += [Markup(" "), tag("text", box.fit(words, SMALL_CHARACTER), class_="type", x=LEFT, y=y)]
    return lines
