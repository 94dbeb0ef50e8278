"""Put a graph's nodes on ranks, from top to bottom, and cut the edges that pass over ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeAlias

Size: TypeAlias = tuple[float, float]
BEND: Size = (6.0, 0.0)


class VertexKind(Enum):
    """What a vertex is: on the path of the data, beside it (a parameter), or a bend of an edge that passes over ranks."""

    DATA = "data"
    SIDE = "side"
    BEND = "bend"


@dataclass
class Net:
    """The graph with its edges cut: vertices 0..n-1 are nodes, the others bends and labels.

    `step` is how many ranks are between a node and the next: 2 where there is a rank for labels between them.
    """

    size: list[Size]
    rank: list[int]
    kind: list[VertexKind]
    up: list[list[int]]
    down: list[list[int]]
    nodes: int
    step: int

    @classmethod
    def of(cls, sizes: Sequence[Size], rank: list[int], data: Sequence[bool], step: int) -> Net:
        """Begin with the nodes; `data` says which of them lie on the path of the data."""
        kinds = [VertexKind.DATA if on_path else VertexKind.SIDE for on_path in data]
        return cls(list(sizes), rank, kinds, [[] for _ in sizes], [[] for _ in sizes], len(sizes), step)

    def add(self, rank: int, kind: VertexKind, size: Size) -> int:
        """Add a vertex of an edge on a rank and give its index."""
        self.size.append(size)
        self.rank.append(rank)
        self.kind.append(kind)
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
    order: Sequence[int], edges: Sequence[tuple[int, int]], anchors: frozenset[int], step: int
) -> tuple[list[int], list[bool]]:
    """Give each node its longest distance from the top, and say which nodes lie on the data path.

    Args:
        order: The nodes, so that all edges lead forward.
        edges: Between them.
        anchors: Where the data path begins; where there are none, it begins at all nodes without an edge into them.
        step: How many ranks an edge leads down at least.
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
            rank[target] = max(rank[target], rank[node] + step)
            data[target] |= data[node]
    for node in reversed(order):
        if not data[node] and below[node]:
            rank[node] = min(rank[target] for target in below[node]) - step
    return rank, data


def cut_long_edges(net: Net, edges: Sequence[tuple[int, int]], labels: Sequence[Size]) -> list[list[int]]:
    """Give each edge its vertices from rank to rank.

    Edges of one source share their bends, unless they have labels: then the first vertex of each is as large as its label.
    """
    bends: dict[tuple[int, int], int] = {}
    paths = []
    for index, (source, target) in enumerate(edges):
        path, first = [source], net.rank[source] + 1
        passes = net.rank[target] - net.rank[source] > net.step
        kind = VertexKind.BEND if passes else net.kind[source]
        for rank in range(first, net.rank[target]):
            owner = -1 - index if labels else source
            if (owner, rank) not in bends:
                bends[owner, rank] = net.add(rank, kind, labels[index] if labels and rank == first else BEND)
            path.append(bends[owner, rank])
        path.append(target)
        if source != target:
            for above, beneath in pairwise(path):
                net.link(above, beneath)
        paths.append(path)
    return paths
