"""Place blocks in rows that are read like text, and route wires between them at right angles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]
MARGIN = 40.0  # left and right of the rows, for wires that turn there
ASIDE = 26.0  # of it, outside of what turns at the first block of a row
GAP = 72.0  # between blocks; a wire's texts fit in it
LANE = 34.0  # between wires that run beside each other
TRACK = 7.0  # between wires that turn beside each other
PORT_GAP = 15.0  # between wires that end at one side of a block
SIDE = 60.0  # of a block's side that wires may end at
MOST_TRACKS = 4  # beside one block; further wires share the last


@dataclass(frozen=True)
class Placed:
    """Where everything lies: top left corners of the blocks, points of the wires, and the size of the whole."""

    corners: list[Point]
    routes: list[list[Point]]
    width: float
    height: float


@dataclass
class _Rows:
    """The rows while wires are routed: for each block its row and x, for each row its height."""

    row: list[int]
    left: list[float]
    heights: list[float]
    width: float
    lanes: list[list[list[tuple[float, float]]]] = field(default_factory=list)
    turns: dict[tuple[int, float], int] = field(default_factory=dict)


def place(
    sizes: Sequence[tuple[float, float]],
    wires: Sequence[tuple[int, int]],
    room: float,
    connector: float,
) -> Placed:
    """Place blocks from left to right in as many rows as they need.

    Args:
        sizes: Width and height of each block, in the order of the data.
        wires: Source and target of each wire, as indices into `sizes`.
        room: The width that the rows may have.
        connector: How far below its top a block has its wires.

    Returns:
        The places. A wire to the next block of its row is straight; any other runs above a row, where no two share
        a lane.
    """
    rows = _fill(sizes, room)
    offsets = _offsets(rows, wires)
    plans = [_lanes(rows, sizes, source, target) for source, target in wires]
    tops = _tops(rows)
    corners = [(rows.left[i], tops[rows.row[i]]) for i in range(len(sizes))]

    def end(block: int, side: float, offset: float) -> Point:
        x, y = corners[block]
        return x + side * sizes[block][0], y + connector + offset

    routes = []
    for wire, (source, target) in enumerate(wires):
        begin, finish = end(source, 1, offsets[wire][0]), end(target, 0, offsets[wire][1])
        routes.append(_points(begin, finish, plans[wire], tops, rows))
    height = tops[-1] if tops else 0.0
    return Placed(corners, routes, rows.width, height)


def _fill(sizes: Sequence[tuple[float, float]], room: float) -> _Rows:
    row, left, heights = [], [], [0.0]
    x, widest = MARGIN, 0.0
    for width, height in sizes:
        if x > MARGIN and x + width > room - MARGIN:
            heights.append(0.0)
            x = MARGIN
        row.append(len(heights) - 1)
        left.append(x)
        heights[-1] = max(heights[-1], height)
        widest = max(widest, x + width)
        x += width + GAP
    return _Rows(row, left, heights, widest + MARGIN, [[] for _ in range(len(heights) + 1)])


def _offsets(rows: _Rows, wires: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Spread the wires at each side of a block: where one is straight it keeps the middle.

    Beside it, wires that go down leave below, and all that come in turn come from above.
    """
    straight = [_is_straight(rows, *wire) for wire in wires]
    below = [rows.row[target] > rows.row[source] for source, target in wires]
    leaving: dict[int, list[int]] = {}
    coming: dict[int, list[int]] = {}
    for wire, (source, target) in enumerate(wires):
        leaving.setdefault(source, []).append(wire)
        coming.setdefault(target, []).append(wire)

    def offset(group: list[int], wire: int, down: Callable[[int], bool]) -> float:
        if [straight[one] for one in group].count(True) != 1:
            steps = len(group) - 1
            return (group.index(wire) - steps / 2) * min(PORT_GAP, SIDE / max(1, steps))
        if straight[wire]:
            return 0.0
        beside = [one for one in group if not straight[one] and down(one) == down(wire)]
        step = min(PORT_GAP, SIDE / 2 / len(beside)) * (beside.index(wire) + 1)
        return step if down(wire) else -step

    return [
        (offset(leaving[source], i, lambda one: below[one]), offset(coming[target], i, lambda one: False))
        for i, (source, target) in enumerate(wires)
    ]


def _is_straight(rows: _Rows, source: int, target: int) -> bool:
    """Tell whether a wire goes to the next block of its row."""
    return target == source + 1 and rows.row[source] == rows.row[target]


def _lanes(
    rows: _Rows, sizes: Sequence[tuple[float, float]], source: int, target: int
) -> list[tuple[int, int, float, float]]:
    """Reserve where a wire runs: lanes above rows, each as (row below, lane, from x, to x); none if straight."""
    if _is_straight(rows, source, target):
        return []
    first = rows.row[source] + (1 if rows.row[target] > rows.row[source] else 0)
    last = rows.row[target]
    out = _turn(rows, first, rows.left[source] + sizes[source][0], 1)
    into = _turn(rows, last, rows.left[target], -1)
    if first == last:
        return [_lane(rows, first, out, into)]
    aside = _turn(rows, -1, MARGIN - ASIDE, -1)
    return [_lane(rows, first, out, aside), _lane(rows, last, aside, into)]


def _turn(rows: _Rows, row: int, edge: float, side: int) -> float:
    """Return the x at which a wire turns beside a block, so that no two turn at the same."""
    count = rows.turns[row, edge] = rows.turns.get((row, edge), 0) + 1
    most = MOST_TRACKS if row >= 0 else 1
    return edge + side * TRACK * (min(count, most) + 0.8)


def _lane(rows: _Rows, row: int, begin: float, end: float) -> tuple[int, int, float, float]:
    low, high = min(begin, end), max(begin, end)
    lanes = rows.lanes[row]
    for index, taken in enumerate(lanes):
        if all(high < a or b < low for a, b in taken):
            taken.append((low, high))
            return row, index, begin, end
    lanes.append([(low, high)])
    return row, len(lanes) - 1, begin, end


def _tops(rows: _Rows) -> list[float]:
    """Return the top of each row, and the end of the last."""
    tops, y = [], 0.0
    for index, height in enumerate(rows.heights):
        lanes = len(rows.lanes[index])
        y += lanes * LANE + (LANE / 2 if lanes or index else 0.0)
        tops.append(y)
        y += height
    return [*tops, y]


def _points(
    begin: Point, end: Point, lanes: list[tuple[int, int, float, float]], tops: list[float], rows: _Rows
) -> list[Point]:
    if not lanes:
        middle = (begin[0] + end[0]) / 2
        return [begin, end] if begin[1] == end[1] else [begin, (middle, begin[1]), (middle, end[1]), end]
    points = [begin]
    y = begin[1]
    for row, lane, start, stop in lanes:
        level = tops[row] - LANE / 2 - LANE * (len(rows.lanes[row]) - 1 - lane)
        points += [(start, y)] if points == [begin] else []
        points += [(start, level), (stop, level)]
        y = level
    return [*points, (lanes[-1][3], end[1]), end]
