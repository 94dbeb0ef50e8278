"""Put a graph's nodes on ranks, from top to bottom, and cut the edges that pass over ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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


def without_cycles(nodes: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Turn round the edges that close a cycle (depth-first search without recursion: chains can be long)."""
    out: list[list[int]] = [[] for _ in range(nodes)]
    for source, target in edges:
        out[source].append(target)
    finished = [False] * nodes
    on_path = [False] * nodes
    closing: set[tuple[int, int]] = set()
    for start in range(nodes):
        stack = [(start, iter(out[start]))] if not finished[start] else []
        on_path[start] = bool(stack)
        while stack:
            node, rest = stack[-1]
            target = next(rest, -1)
            if target < 0:
                stack.pop()
                on_path[node], finished[node] = False, True
            elif on_path[target]:
                closing.add((node, target))
            elif not finished[target]:
                on_path[target] = True
                stack.append((target, iter(out[target])))
    return [(b, a) if (a, b) in closing else (a, b) for a, b in edges]


def ranked(
    nodes: int, edges: Sequence[tuple[int, int]], anchors: frozenset[int]
) -> tuple[list[int], list[bool]]:
    """Give each node its longest distance from the top, and say which nodes lie on the data path."""
    below: list[list[int]] = [[] for _ in range(nodes)]
    waiting = [0] * nodes
    for source, target in edges:
        if source != target:
            below[source].append(target)
            waiting[target] += 1
    ready = [node for node in range(nodes) if not waiting[node]]
    data = [node in anchors or (not anchors and node in ready) for node in range(nodes)]
    rank = [0] * nodes
    for node in ready:  # grows while it is walked: a topological order
        for target in below[node]:
            rank[target] = max(rank[target], rank[node] + 1)
            data[target] |= data[node]
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for node in reversed(ready):
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
