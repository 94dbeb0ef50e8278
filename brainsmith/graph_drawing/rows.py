"""Order the vertices of each rank, and find their horizontal places."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import pairwise
from operator import mul

from brainsmith.graph_drawing.ranks import Net, VertexKind

NODE_GAP = 22.0
ORDER_SWEEPS = 6
PLACE_SWEEPS = 10
# How much a neighbour pulls at a node or a label, and at a bend: the data path stays straight, a bypass straight
# between its ends, and a parameter follows its use. Masses say who gives way in a crowded row.
PULL = {VertexKind.DATA: 1.0, VertexKind.SIDE: 1e-4, VertexKind.BEND: 1e-4}
PULL_AT_BEND = {VertexKind.DATA: 1e-4, VertexKind.SIDE: 1e-4, VertexKind.BEND: 1.0}
MASS = {VertexKind.DATA: 1.0, VertexKind.SIDE: 1e-3, VertexKind.BEND: 1e-3}


def ordered_rows(net: Net) -> list[list[int]]:
    """Order each rank by the barycentre of its neighbours, keeping the order with the fewest crossings."""
    rows: list[list[int]] = [[] for _ in range(max(net.rank, default=-1) + 1)]
    for vertex in _depth_first(net):
        rows[net.rank[vertex]].append(vertex)
    best, fewest = [list(row) for row in rows], _crossings(net, rows)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        neighbours = net.up if sweep % 2 == 0 else net.down
        spot = {vertex: index for row in rows for index, vertex in enumerate(row)}
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wish = {vertex: _mean([spot[n] for n in neighbours[vertex]], spot[vertex]) for vertex in row}
            row.sort(key=wish.__getitem__)
            spot.update((vertex, index) for index, vertex in enumerate(row))
        found = _crossings(net, rows)
        if found < fewest:
            best, fewest = [list(row) for row in rows], found
    return best


def _depth_first(net: Net) -> list[int]:
    """List all vertices so that a path's vertices come together."""
    seen = [False] * len(net.rank)
    order = []
    for start in sorted(range(len(net.rank)), key=net.rank.__getitem__):
        stack = [start]
        while stack:
            vertex = stack.pop()
            if not seen[vertex]:
                seen[vertex] = True
                order.append(vertex)
                stack.extend(reversed(net.down[vertex]))
    return order


def _crossings(net: Net, rows: list[list[int]]) -> int:
    """Count the crossings between neighbouring ranks (inversions of the lower ends)."""
    total = 0
    for upper, lower in pairwise(rows):
        spot = {vertex: index for index, vertex in enumerate(lower)}
        seen: list[int] = []
        for vertex in upper:
            ends = sorted(spot[target] for target in net.down[vertex])
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _mean(values: list[int], default: float) -> float:
    return sum(values) / len(values) if values else default


def placed(net: Net, rows: list[list[int]]) -> list[float]:
    """Find each vertex's horizontal centre: near its neighbours, in its row's order, without overlap."""
    centre = [0.0] * len(net.rank)
    for row in rows:
        _settle(net, row, [0.0] * len(row), centre)
    for sweep in range(PLACE_SWEEPS):
        first, second = (net.down, net.up) if sweep % 2 else (net.up, net.down)
        for row in reversed(rows) if sweep % 2 else rows:
            wishes = [_wish(net, vertex, first[vertex] or second[vertex], centre) for vertex in row]
            _settle(net, row, wishes, centre)
    return centre


def _wish(net: Net, vertex: int, near: list[int], centre: list[float]) -> float:
    """Return where a vertex would lie best: in the middle of its neighbours, as each pulls."""
    pull = PULL_AT_BEND if net.kind[vertex] is VertexKind.BEND else PULL
    pulls = [pull[net.kind[one]] for one in near]
    return sum(map(mul, pulls, (centre[one] for one in near))) / sum(pulls) if near else centre[vertex]


def _settle(net: Net, row: list[int], wishes: list[float], centre: list[float]) -> None:
    """Fulfil a row's wishes as far as its order and distances allow, in least squares.

    Isotonic regression by pooling adjacent violators.
    """
    offset = 0.0
    offsets: list[float] = []
    blocks: list[tuple[float, float, int]] = []  # sum of mass x wish, sum of mass, members
    for index, vertex in enumerate(row):
        if index:
            offset += (net.size[row[index - 1]][0] + net.size[vertex][0]) / 2 + NODE_GAP
        offsets.append(offset)
        mass = MASS[net.kind[vertex]]
        blocks.append((mass * (wishes[index] - offset), mass, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            last, before = blocks.pop(), blocks.pop()
            blocks.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    position = 0
    for total, weight, members in blocks:
        for index in range(position, position + members):
            centre[row[index]] = total / weight + offsets[index]
        position += members
