"""Lay out a directed graph in layers, top to bottom (Sugiyama, Tagawa, Toda 1981).

A circuit's blocks are placed otherwise, in the order of the data and in as many rows as a page's width asks for
(`rtl/drawing/placing.py`): layers one below the other would be a column as long as the network is deep. So there are two
ways to place, with one form of result.

Longest-path ranks, long edges cut into one invisible vertex per rank, barycentre ordering, then horizontal
places by isotonic regression. Pure: sizes and edges in, places and routes out.
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
    forward = without_cycles(len(sizes), edges)
    rank, data = ranked(len(sizes), forward, anchors)
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
