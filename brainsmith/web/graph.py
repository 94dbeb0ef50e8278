"""Draw a model's graph as SVG, and hand the script what a click on a node shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainsmith.figures import count, plural
from brainsmith.graph_drawing.boxes import Box
from brainsmith.graph_drawing.graph_svg import curve, graph_svg
from brainsmith.graph_drawing.layered import GraphLayout, Point, layered
from brainsmith.graph_drawing.operator_families import FAMILIES, family
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import text
from brainsmith.web.design_layers import DesignLayer
from brainsmith.web.graph_data import Edge, Graph, Node
from brainsmith.web.layers_section import measures


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
    shown = [_box(node, layers, busiest) for node in graph.nodes]
    anchors = frozenset(i for i, node in enumerate(graph.nodes) if node.op_type == "Input")
    placed = layered([box.size for box in shown], [(e.source, e.target) for e in graph.edges], anchors)
    edges = [_edge(i, e, placed.routes[i]) for i, e in enumerate(graph.edges)]
    nodes = [
        box.draw(placed.corners[i], (node.op_type, node.name), id=f"{key}-{i}")
        for i, (node, box) in enumerate(zip(graph.nodes, shown, strict=True))
    ]
    spoken = f"{title}: {plural(len(graph.nodes), 'node')}, {plural(len(graph.edges), 'edge')}"
    used = {box.family for box in shown}
    return Drawing(
        graph_svg(placed, title, spoken, edges, nodes),
        _details(graph, layers, placed),
        tuple(name for name in FAMILIES if name in used),
        {node.layer: f"{key}-{i}" for i, node in enumerate(graph.nodes) if node.layer is not None},
        graph.dangling,
    )


def _box(node: Node, layers: Sequence[DesignLayer], busiest: float) -> Box:
    """Say what a node shows: type and shape, and a layer's figures; `busiest` are the most cycles of any layer."""
    layer = None if node.layer is None else layers[node.layer]
    load = layer.cycles / busiest if layer and layer.cycles is not None and busiest else None
    heading = (node.name if family(node.op_type) == "port" else node.op_type) or node.name
    lines = (
        "  ".join(part for part in (node.datatype, node.shape) if part),
        _figures(layer, load) if layer else "",
    )
    return Box(node.op_type, heading, tuple(line for line in lines if line), load)


def _figures(layer: DesignLayer, load: float | None) -> str:
    found = {key: layer.attributes.get(key) for key in ("PE", "SIMD")}
    parallel = [f"{key} {text(value)}" for key, value in found.items() if value is not None]
    cycles = "" if layer.cycles is None else plural(layer.cycles, "cycle")
    top = "bottleneck" if load == 1 else ""
    return " · ".join(part for part in (layer.backend, *parallel, cycles, top) if part)


def _edge(index: int, edge: Edge, route: list[Point]) -> Markup | None:
    if not route:
        return None
    what = "  ".join(part for part in (edge.tensor, edge.datatype, edge.shape) if part)
    return tag("path", tag("title", what), class_="edge", data_edge=index, d=curve(route))


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
