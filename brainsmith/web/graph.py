"""Draw a model's graph as SVG, and hand the script what a click on a node shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainsmith.figures import count, plural
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.operator_families import FAMILIES
from brainsmith.rtl.drawing.placing import Point
from brainsmith.web.design_layers import DesignLayer
from brainsmith.web.graph_data import Edge, Graph, Node
from brainsmith.web.graph_layout import GraphLayout, layered
from brainsmith.web.layers_section import measures
from brainsmith.web.node_boxes import Box, draw_node
from brainsmith.web.report_fields import text

MARGIN = 14
# A taller drawing, in pixels, is printed over several pages, because on one it could not be read.
LONG = 2400


@dataclass(frozen=True)
class Drawing:
    """A drawn graph.

    Attributes:
        svg: The drawing.
        details: What the script shows of each node.
        families: The families of operators that it has, in the legend's order.
        places: The id of each hardware layer's node, by the layer's index.
        dangling: How many edges could not be drawn, because they name an absent node.
    """

    svg: Markup
    details: dict[str, object]
    families: tuple[str, ...]
    places: dict[int, str]
    dangling: int


def draw(graph: Graph, layers: Sequence[DesignLayer], key: str, title: str) -> Drawing:
    """Draw one graph.

    Args:
        graph: Its nodes and edges.
        layers: The hardware layers that nodes refer to.
        key: A prefix for the ids of this drawing's elements.
        title: What the drawing shows, for readers who do not see it.
    """
    busiest = max((layer.cycles or 0 for layer in layers), default=0)
    shown = [Box.of(node, layers, busiest) for node in graph.nodes]
    anchors = frozenset(i for i, node in enumerate(graph.nodes) if node.op_type == "Input")
    placed = layered(
        [(box.width, box.height) for box in shown], [(e.source, e.target) for e in graph.edges], anchors
    )
    width, height = placed.width + 2 * MARGIN, placed.height + 2 * MARGIN
    svg = tag(
        "svg",
        tag("title", f"{title}: {plural(len(graph.nodes), 'node')}, {plural(len(graph.edges), 'edge')}"),
        tag(
            "g",
            tag("g", [_edge(i, e, placed.routes[i]) for i, e in enumerate(graph.edges)], class_="edges"),
            tag(
                "g",
                [draw_node(f"{key}-{i}", box, placed.corners[i]) for i, box in enumerate(shown)],
                class_="nodes",
            ),
            transform=f"translate({MARGIN} {MARGIN})",
        ),
        class_="graph long" if height > LONG else "graph",
        role="group",
        aria_label=title,
        viewBox=f"0 0 {width:.1f} {height:.1f}",
        width=round(width),
        height=round(height),
    )
    used = {box.family for box in shown}
    places = {node.layer: f"{key}-{i}" for i, node in enumerate(graph.nodes) if node.layer is not None}
    families = tuple(name for name in FAMILIES if name in used)
    return Drawing(svg, _details(graph, layers, placed), families, places, graph.dangling)


def _edge(index: int, edge: Edge, route: list[Point]) -> Markup | None:
    if not route:
        return None
    what = "  ".join(part for part in (edge.tensor, edge.datatype, edge.shape) if part)
    return tag("path", tag("title", what), class_="edge", data_edge=index, d=_curve(route))


def _curve(route: list[Point]) -> str:
    """Join points by curves that leave and arrive vertically."""
    (x, y), *rest = route
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        if abs(to_x - x) < 0.5:
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(parts)


def _details(graph: Graph, layers: Sequence[DesignLayer], placed: GraphLayout) -> dict[str, object]:
    """List what the script needs: each node's texts, its row in the drawing, and the edges by index."""
    nodes = []
    for index, node in enumerate(graph.nodes):
        layer = None if node.layer is None else layers[node.layer]
        nodes.append({
            "title": node.op_type or node.name,
            "rows": _rows(node, layer),
            "layer": node.layer,
            "at": [placed.rows[index], round(placed.corners[index][0])],
        })  # fmt: skip
    edges = [[edge.source, edge.target, edge.tensor, edge.datatype, edge.shape] for edge in graph.edges]
    return {"nodes": nodes, "edges": edges}


def _rows(node: Node, layer: DesignLayer | None) -> list[list[str]]:
    rows = [["Name", node.name], ["Output", "  ".join(part for part in (node.datatype, node.shape) if part)]]
    if layer:
        rows += [["Layer", layer.name], ["Backend", layer.backend]]
        rows += [[name, count(value)] for name, value in measures(layer).items() if value is not None]
        rows += [[key, text(value)] for key, value in layer.attributes.items()]
    return [row for row in rows if row[1]]
