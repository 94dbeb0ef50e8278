"""Read the graphs of report.json: nodes, edges, and which node is which hardware layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainsmith.report_fields import fields, first_text, items, text
from brainsmith.web.design_layers import DesignLayer


@dataclass(frozen=True)
class Node:
    """One node of a graph; `layer` is the index of its hardware layer."""

    name: str
    op_type: str
    shape: str
    datatype: str
    layer: int | None


@dataclass(frozen=True)
class Edge:
    """One tensor between two nodes, by their indices."""

    source: int
    target: int
    tensor: str
    shape: str
    datatype: str


@dataclass(frozen=True)
class Graph:
    """A model's graph; `dangling` counts edges that name a node the graph does not have."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    dangling: int


def read_graph(graph: object, layers: Sequence[DesignLayer]) -> Graph:
    """Read one graph; nodes belong to layers by their `layer` or by their own name."""
    index_of: dict[str, int] = {}
    nodes: list[Node] = []
    by_name = {layer.name: layer.index for layer in layers}
    for entry in map(fields, items(fields(graph).get("nodes"))):
        index_of.setdefault(text(entry.get("id")), len(nodes))
        name = first_text(entry, "name", "id")
        layer = by_name.get(first_text(entry, "layer") or name)
        kind, shape, datatype = (first_text(entry, key) for key in ("op_type", "shape", "datatype"))
        nodes.append(Node(name, kind, shape, datatype, layer))
    edges = []
    rows = [items(row) for row in items(fields(graph).get("edges"))]
    for row in rows:
        source, target, tensor, shape, datatype = (*map(text, row), "", "", "", "", "")[:5]
        if source in index_of and target in index_of:
            edges.append(Edge(index_of[source], index_of[target], tensor, shape, datatype))
    return Graph(tuple(nodes), tuple(edges), len(rows) - len(edges))
