"""Lay out a model's graph from top to bottom, as the report draws it (Sugiyama, Tagawa, Toda 1981).

Three nodes, of which 0 leads to 1 and 2, and 1 to 2 (an addition past a branch):

    sizes, edges = [(100, 40)] * 3, [(0, 1), (1, 2), (0, 2)]
    layered(sizes, edges, anchors=frozenset({0})).rows == [0, 1, 2]

Each node is one row below the lowest node that leads to it. The edge from 0 to 2 passes row 1, where it gets an
invisible vertex beside node 1, so that it runs around it. Then the vertices of each row are ordered so that few edges
cross, and moved towards their neighbours without overlap.

The blocks of a circuit are placed differently (`rtl/drawing/placing.py`): in rows that are read like text, because one
below the other they would be a column as long as the network is deep. Both return a `Placed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainsmith.rtl.drawing.placing import Placed, Point
from brainsmith.web.ranks import Net, cut_long_edges, ranked, without_cycles
from brainsmith.web.rows import ordered_rows, placed

RANK_GAP = 30.0


@dataclass(frozen=True)
class GraphLayout(Placed):
    """Where everything lies, in pixels, and `rows`, the nodes' ranks.

    A route leads from its source's bottom to its target's top, and is empty for an edge from a node to itself.
    """

    rows: list[int]


def layered(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], anchors: frozenset[int]
) -> GraphLayout:
    """Place nodes and route edges.

    Args:
        sizes: Width and height of each node.
        edges: Source and target of each edge, as indices into `sizes`. A cycle gets one edge that goes up.
        anchors: The graph's inputs. What they do not reach (weights and what is made of them) is placed right
            above its first use instead of at the top.

    Returns:
        The layout; its top left corner is at 0, 0.
    """
    order, forward = without_cycles(len(sizes), edges)
    rank, data = ranked(order, forward, anchors)
    net = Net(rank, [width for width, _ in sizes], [[] for _ in sizes], [[] for _ in sizes], len(sizes))
    paths = cut_long_edges(net, forward)
    rows = ordered_rows(net)
    centres = placed(net, rows, data)
    turned = [edge != down for edge, down in zip(edges, forward, strict=True)]
    return _finish(sizes, net, rows, centres, paths, turned)


def _finish(
    sizes: Sequence[tuple[float, float]],
    net: Net,
    rows: list[list[int]],
    centre: list[float],
    paths: list[list[int]],
    turned: list[bool],
) -> GraphLayout:
    """Turn centres into corners and routes, and move everything to the top left."""
    left = min((centre[v] - net.width[v] / 2 for v in range(len(centre))), default=0.0)
    right = max((centre[v] + net.width[v] / 2 for v in range(len(centre))), default=0.0)
    tops, heights, y = [], [], 0.0
    for row in rows:
        heights.append(max((sizes[v][1] for v in row if v < net.nodes), default=0.0))
        tops.append(y)
        y += heights[-1] + RANK_GAP
    corners = []
    for node, (width, height) in enumerate(sizes):
        rank = net.rank[node]
        corners.append((centre[node] - left - width / 2, tops[rank] + (heights[rank] - height) / 2))
    routes = []
    for path, upwards in zip(paths, turned, strict=True):
        route = _route(
            path, corners, sizes, [(centre[v] - left, tops[net.rank[v]], heights[net.rank[v]]) for v in path]
        )
        routes.append(route[::-1] if upwards else route)
    return GraphLayout(corners, routes, right - left, max(0.0, y - RANK_GAP), net.rank[: net.nodes])


def _route(
    path: list[int],
    corners: list[Point],
    sizes: Sequence[tuple[float, float]],
    places: list[tuple[float, float, float]],
) -> list[Point]:
    """List an edge's points: out of the source, straight through each rank it passes, into the target."""
    first, last = path[0], path[-1]
    if first == last:
        return []
    points = [(places[0][0], corners[first][1] + sizes[first][1])]
    for x, top, height in places[1:-1]:
        points += [(x, top), (x, top + height)]
    points.append((places[-1][0], corners[last][1]))
    return points
