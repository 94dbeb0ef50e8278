"""The layout's laws: edges go down, nothing overlaps, nothing is outside, any graph is laid out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.web.graph_layout import layered
from brainsmith.web.rows import NODE_GAP

SIZE = st.tuples(st.integers(10, 200).map(float), st.integers(10, 80).map(float))


@st.composite
def graphs(draw):
    sizes = draw(st.lists(SIZE, max_size=14))
    ends = st.integers(0, len(sizes) - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=30)) if sizes else []
    anchors = draw(st.frozensets(ends, max_size=3)) if sizes else frozenset()
    return sizes, edges, anchors


@given(graphs())
def test_nothing_overlaps_or_lies_outside(graph):
    sizes, edges, anchors = graph
    layout = layered(sizes, edges, anchors)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(layout.corners, sizes, strict=True)]
    for left, top, right, bottom in boxes:
        assert left >= -0.01
        assert top >= -0.01
        assert right <= layout.width + 0.01
        assert bottom <= layout.height + 0.01
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            beside = one[2] + NODE_GAP <= other[0] + 0.01 or other[2] + NODE_GAP <= one[0] + 0.01
            assert beside or one[3] <= other[1] or other[3] <= one[1]


@given(graphs())
def test_routes_join_their_ends(graph):
    sizes, edges, anchors = graph
    layout = layered(sizes, edges, anchors)
    for (source, target), route in zip(edges, layout.routes, strict=True):
        if source == target:
            assert route == []
            continue
        down = layout.rows[source] < layout.rows[target]
        for node, point, bottom in ((source, route[0], down), (target, route[-1], not down)):
            (x, y), (width, height) = layout.corners[node], sizes[node]
            assert abs(point[0] - (x + width / 2)) < 0.01
            assert abs(point[1] - (y + height * bottom)) < 0.01
        heights = [y for _, y in route]
        assert heights == sorted(heights, reverse=not down)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), max_size=40))
def test_edges_of_an_acyclic_graph_go_down(pairs):
    edges = [(a, a + b) for a, b in pairs]
    layout = layered([(50.0, 20.0)] * 41, edges, frozenset())
    assert all(layout.rows[a] < layout.rows[b] for a, b in edges)


def test_a_chain_is_straight():
    layout = layered([(40.0, 20.0), (90.0, 20.0), (60.0, 30.0)], [(0, 1), (1, 2)], frozenset({0}))
    assert [x + w / 2 for (x, _), w in zip(layout.corners, (40, 90, 60), strict=True)] == [45.0, 45.0, 45.0]
    assert layout.rows == [0, 1, 2]


def test_a_parameter_stands_right_above_its_use():
    # input 0 -> 1 -> 2 -> 3, weight 4 -> quantiser 5 -> 3
    layout = layered([(50.0, 20.0)] * 6, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 3)], frozenset({0}))
    assert layout.rows == [0, 1, 2, 3, 1, 2]


def test_a_bypass_crosses_no_node():
    layout = layered([(50.0, 20.0)] * 5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], frozenset({0}))
    middle = [x for x, _ in layout.routes[4][1:-1]]
    assert len(middle) == 6
    for node in (1, 2, 3):
        left = layout.corners[node][0]
        assert all(x < left or x > left + 50 for x in middle)


def test_edges_that_can_do_without_crossing_do_not_cross():
    # two chains whose nodes come interleaved and swapped
    layout = layered([(50.0, 20.0)] * 6, [(0, 3), (1, 2), (3, 4), (2, 5)], frozenset({0, 1}))
    x = [corner[0] for corner in layout.corners]
    assert (x[0] < x[1]) == (x[3] < x[2]) == (x[4] < x[5])


def test_a_cycle_gets_one_edge_upwards():
    layout = layered([(50.0, 20.0)] * 3, [(0, 1), (1, 2), (2, 0)], frozenset())
    assert layout.rows == [0, 1, 2]
    assert layout.routes[2][0][1] > layout.routes[2][-1][1]


@pytest.mark.slow
def test_a_long_chain_needs_no_recursion():
    layout = layered([(50.0, 20.0)] * 3000, [(i, i + 1) for i in range(2999)], frozenset({0}))
    assert layout.rows[-1] == 2999


def test_a_bypass_leaves_the_data_path_straight():
    # blocks of three with a bypass each: 0 -> 1 -> 2 -> 3 -> 4 ..., 0 -> 3, 3 -> 6
    edges = [(i, i + 1) for i in range(9)] + [(0, 3), (3, 6), (6, 9)]
    widths = [120.0, 180.0, 160.0] * 3 + [100.0]
    layout = layered([(width, 20.0) for width in widths], edges, frozenset({0}))
    centres = [x + width / 2 for (x, _), width in zip(layout.corners, widths, strict=True)]
    assert max(centres) - min(centres) < 1
