"""Put a graph's nodes on ranks, from top to bottom, and cut the edges that pass over ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

BEND_WIDTH = 6.0


@dataclass
class Net:
    """The graph with its long edges cut: vertices 0..n-1 are nodes, the others bends."""

    rank: list[int]
    width: list[float]
    up: list[list[int]] = field(default_factory=list)
    down: list[list[int]] = field(default_factory=list)
    nodes: int = 0

    def add_bend(self, rank: int) -> int:
        """Add an invisible vertex on a rank and give its index."""
        self.rank.append(rank)
        self.width.append(BEND_WIDTH)
        self.up.append([])
        self.down.append([])
        return len(self.rank) - 1

    def link(self, above: int, below: int) -> None:
        """Join two vertices of neighbouring ranks; once is enough."""
        if below not in self.down[above]:
            self.down[above].append(below)
            self.up[below].append(above)


def without_cycles(nodes: int, edges: Sequence[tuple[int, int]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Turn round an edge of each cycle; return the nodes in an order in which all edges lead forward, and the edges."""
    forward = {(source, target) for source, target in edges if source != target}
    while True:
        above: dict[int, list[int]] = {node: [] for node in range(nodes)}
        for source, target in forward:
            above[target].append(source)
        try:
            order = list(TopologicalSorter(above).static_order())
        except CycleError as error:
            forward.remove(tuple(error.args[1][-2:]))
        else:
            place = {node: at for at, node in enumerate(order)}
            return order, [(a, b) if place[a] <= place[b] else (b, a) for a, b in edges]


def ranked(
    order: Sequence[int], edges: Sequence[tuple[int, int]], anchors: frozenset[int]
) -> tuple[list[int], list[bool]]:
    """Give each node its longest distance from the top, and say which nodes lie on the data path.

    Args:
        order: The nodes, so that all edges lead forward.
        edges: Between them.
        anchors: Where the data path begins; where there are none, it begins at all nodes without an edge into them.
    """
    below: list[list[int]] = [[] for _ in order]
    for source, target in edges:
        if source != target:
            below[source].append(target)
    inner = {target for targets in below for target in targets}
    data = [node in anchors or (not anchors and node not in inner) for node in range(len(order))]
    rank = [0] * len(order)
    for node in order:
        for target in below[node]:
            rank[target] = max(rank[target], rank[node] + 1)
            data[target] |= data[node]
    for node in reversed(order):
        if not data[node] and below[node]:
            rank[node] = min(rank[target] for target in below[node]) - 1
    return rank, data


def cut_long_edges(net: Net, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Give each edge its vertices from rank to rank; edges of one source share their bends."""
    bends: dict[tuple[int, int], int] = {}
    paths = []
    for source, target in edges:
        path = [source]
        for rank in range(net.rank[source] + 1, net.rank[target]):
            if (source, rank) not in bends:
                bends[source, rank] = net.add_bend(rank)
            path.append(bends[source, rank])
        path.append(target)
        if source != target:
            for above, beneath in pairwise(path):
                net.link(above, beneath)
        paths.append(path)
    return paths
