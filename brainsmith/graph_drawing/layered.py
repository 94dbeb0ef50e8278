"""Lay out a graph from top to bottom (Sugiyama, Tagawa, Toda 1981): a model's graph and a circuit's blocks.

Three nodes, of which 0 leads to 1 and 2, and 1 to 2 (an addition past a branch):

    sizes, edges = [(100, 40)] * 3, [(0, 1), (1, 2), (0, 2)]
    layered(sizes, edges, anchors=frozenset({0})).rows == [0, 1, 2]

Each node is one row below the lowest node that leads to it. The edge from 0 to 2 passes row 1, where it gets an
invisible vertex beside node 1, so that it runs around it. Then the vertices of each row are ordered so that few edges
cross, and moved towards their neighbours without overlap.

Where edges have labels, the first vertex of each is as large as its label, and there is a row for it between any two
nodes: so a label overlaps nothing, by the same rule that keeps nodes apart.

Why not a package: of those on PyPI that lay graphs out in layers, grandalf is under the GPL, has no types, and had
its last release in January 2023; the others are newer than this file, wrap JavaScript, or need Graphviz installed.
None of them also keeps parameters right above what uses them, and the path of the data straight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from brainsmith.graph_drawing.ranks import Net, Size, cut_long_edges, ranked, without_cycles
from brainsmith.graph_drawing.rows import ordered_rows, placed

Point: TypeAlias = tuple[float, float]
RANK_GAP = 30.0
"""Between rows; half of it is above a label, and half below."""
PORT_GAP = 24.0
"""Between edges that end at one side of a node."""


@dataclass(frozen=True)
class GraphLayout:
    """Where everything lies, in pixels; the top left corner is at 0, 0.

    Attributes:
        corners: The top left corner of each node.
        routes: The points of each edge, from its source's bottom to its target's top, straight down where it passes a
            row; none for one from a node to itself.
        labels: The middle of each edge's label; none where edges have no labels, or no route.
        rows: The rank of each node.
        width: Of the whole.
        height: Of the whole.
    """

    corners: list[Point]
    routes: list[list[Point]]
    labels: list[Point | None]
    rows: list[int]
    width: float
    height: float


def layered(
    sizes: Sequence[Size],
    edges: Sequence[tuple[int, int]],
    anchors: frozenset[int],
    labels: Sequence[Size] = (),
) -> GraphLayout:
    """Place nodes and route edges.

    Args:
        sizes: Width and height of each node.
        edges: Source and target of each edge, as indices into `sizes`. A cycle gets one edge that goes up.
        anchors: The graph's inputs. What they do not reach (weights and what is made of them) is placed right
            above its first use instead of at the top.
        labels: Width and height of each edge's label; empty if no edge has one.
    """
    order, forward = without_cycles(len(sizes), edges)
    step = 2 if labels else 1
    rank, data = ranked(order, forward, anchors, step)
    net = Net.of(sizes, rank, data, step)
    paths = cut_long_edges(net, forward, labels)
    rows = ordered_rows(net)
    centres = placed(net, rows)
    turned = [edge != down for edge, down in zip(edges, forward, strict=True)]
    return _finish(net, rows, centres, paths, turned)


def _finish(
    net: Net, rows: list[list[int]], centres: list[float], paths: list[list[int]], turned: list[bool]
) -> GraphLayout:
    """Turn centres into corners and routes, and move everything to the top left."""
    ends = [(x - width / 2, x + width / 2) for x, (width, _) in zip(centres, net.size, strict=True)]
    left, right = min((end[0] for end in ends), default=0.0), max((end[1] for end in ends), default=0.0)
    heights = [max((net.size[v][1] for v in row), default=0.0) for row in rows]
    gap = RANK_GAP / net.step
    tops = list(accumulate((height + gap for height in heights), initial=0.0))
    bottoms = [top + height for top, height in zip(tops, heights, strict=False)]
    middles = [(x - left, tops[r] + heights[r] / 2) for x, r in zip(centres, net.rank, strict=True)]
    corners = [(x - w / 2, y - h / 2) for (x, y), (w, h) in zip(middles, net.size[: net.nodes], strict=False)]
    into, out = _ports(net, centres, paths, at_target=True), _ports(net, centres, paths, at_target=False)
    routes, labels = [], []
    for index, (path, upwards) in enumerate(zip(paths, turned, strict=True)):
        first, *between, last = path
        route = []
        if first != last:
            x, to_x = middles[first][0] + out[index], middles[last][0] + into[index]
            route = [(x, corners[first][1] + net.size[first][1]), (x, bottoms[net.rank[first]])]
            for vertex in between:
                route += [(middles[vertex][0], edges[net.rank[vertex]]) for edges in (tops, bottoms)]
            route += [(to_x, tops[net.rank[last]]), (to_x, corners[last][1])]
        routes.append(route[::-1] if upwards else route)
        labels.append(middles[between[0]] if net.step > 1 and between else None)
    return GraphLayout(
        corners, routes, labels, net.rank[: net.nodes], right - left, max(bottoms, default=0.0)
    )


def _ports(net: Net, centres: list[float], paths: list[list[int]], *, at_target: bool) -> list[float]:
    """Return how far from the middle of its node's side each edge ends, so that edges that come from one side do not meet.

    What comes from straight above ends in the middle. Without labels the edges of a node leave it together.
    """
    if not at_target and net.step == 1:
        return [0.0] * len(paths)
    beside: dict[tuple[int, bool], list[int]] = {}
    ends = [(path[-1], path[-2]) if at_target else (path[0], path[1]) for path in paths]
    away = [centres[near] - centres[node] for node, near in ends]
    for index, (node, _) in enumerate(ends):
        if abs(away[index]) > 0.5:
            beside.setdefault((node, away[index] > 0), []).append(index)
    offsets = [0.0] * len(paths)
    for (node, right), found in beside.items():
        step = min(PORT_GAP, 0.4 * net.size[node][0] / len(found))
        for place, index in enumerate(sorted(found, key=lambda one: abs(away[one])), 1):
            offsets[index] = step * place if right else -step * place
    return offsets
