"""The layout's laws: edges go down and cross no node, nothing overlaps, nothing is outside, any graph is laid out."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.graph_drawing.layered import layered
from brainsmith.graph_drawing.rows import NODE_GAP

SIZE = st.tuples(st.integers(10, 200).map(float), st.integers(10, 80).map(float))


@st.composite
def graphs(draw):
    sizes = draw(st.lists(SIZE, max_size=14))
    ends = st.integers(0, len(sizes) - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=30)) if sizes else []
    anchors = draw(st.frozensets(ends, max_size=3)) if sizes else frozenset()
    labels = draw(st.just([]) | st.lists(SIZE, min_size=len(edges), max_size=len(edges)))
    return sizes, edges, anchors, labels


def boxes(middles, sizes):
    """Left, top, right, bottom."""
    return [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(middles, sizes, strict=True)
    ]


def nodes_of(layout, sizes):
    middles = [(x + w / 2, y + h / 2) for (x, y), (w, h) in zip(layout.corners, sizes, strict=True)]
    return boxes(middles, sizes)


def labels_of(layout, labels):
    found = [(at, size) for at, size in zip(layout.labels, labels, strict=False) if at]
    return boxes([at for at, _ in found], [size for _, size in found])


@given(graphs())
def test_nothing_overlaps_or_lies_outside(graph):
    sizes, edges, _, labels = graph
    layout = layered(*graph)
    shown = [*nodes_of(layout, sizes), *labels_of(layout, labels)]
    between = [(source, target) for source, target in edges if source != target]
    assert len(shown) == len(sizes) + (len(between) if labels else 0)
    for left, top, right, bottom in shown:
        assert left >= -0.01
        assert top >= -0.01
        assert right <= layout.width + 0.01
        assert bottom <= layout.height + 0.01
    for i, one in enumerate(shown):
        for other in shown[:i]:
            beside = one[2] + NODE_GAP <= other[0] + 0.01 or other[2] + NODE_GAP <= one[0] + 0.01
            assert beside or one[3] <= other[1] or other[3] <= one[1]


@given(graphs())
def test_no_edge_crosses_a_node_or_the_label_of_another(graph):
    sizes, edges, _, labels = graph
    layout = layered(*graph)
    obstacles = [((at,), box) for at, box in enumerate(nodes_of(layout, sizes))]
    owners = [edge for edge, at in enumerate(layout.labels) if at]
    obstacles += [((-1, edge), box) for edge, box in zip(owners, labels_of(layout, labels), strict=True)]
    for index, (edge, route) in enumerate(zip(edges, layout.routes, strict=True)):
        for (x, y), (to_x, to_y) in pairwise(route):
            for (owner, *of), (left, top, right, bottom) in obstacles:
                if of == [index] or (owner in edge and not of):
                    continue
                outside = max(x, to_x) <= left + 0.01 or min(x, to_x) >= right - 0.01
                assert outside or max(y, to_y) <= top + 0.01 or min(y, to_y) >= bottom - 0.01


@given(graphs())
def test_routes_join_their_ends_by_way_of_their_labels(graph):
    sizes, edges, _, _ = graph
    layout = layered(*graph)
    shown = nodes_of(layout, sizes)
    for (source, target), route, label in zip(edges, layout.routes, layout.labels, strict=True):
        if source == target:
            assert (route, label) == ([], None)
            continue
        down = layout.rows[source] < layout.rows[target]
        for node, point, bottom in ((source, route[0], down), (target, route[-1], not down)):
            left, top, right, low = shown[node]
            assert left <= point[0] <= right
            assert abs(point[1] - (low if bottom else top)) < 0.01
        heights = [y for _, y in route]
        assert heights == sorted(heights, reverse=not down)
        if label:
            x, y = label
            assert any(a[0] == b[0] == x and (a[1] < y) != (b[1] < y) for a, b in pairwise(route))


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
    middle = [x for x, _ in layout.routes[4][2:-2]]
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


def test_a_labelled_chain_is_straight_and_its_bypass_runs_beside_it():
    sizes, edges = [(80.0, 20.0)] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)]
    layout = layered(sizes, edges, frozenset({0}), [(60.0, 16.0)] * 4)
    assert layout.rows == [0, 2, 4, 6]
    middles = [x + 40 for x, _ in layout.corners] + [x for x, _ in layout.labels[:3]]
    assert max(middles) - min(middles) < 0.5
    assert abs(layout.labels[3][0] - layout.labels[0][0]) >= 60 + NODE_GAP
    assert layout.labels[3][1] == layout.labels[0][1]


def test_edges_into_a_node_end_apart_and_the_one_from_above_in_the_middle():
    # 0 -> 1 -> 2 -> 4, a bypass 0 -> 4, and a parameter 3 -> 4
    layout = layered([(80.0, 20.0)] * 5, [(0, 1), (1, 2), (2, 4), (3, 4), (0, 4)], frozenset({0}))
    ends = [layout.routes[edge][-1][0] for edge in (2, 3, 4)]
    assert ends[0] == layout.corners[4][0] + 40
    assert min(abs(a - b) for a, b in ((ends[0], ends[1]), (ends[0], ends[2]), (ends[1], ends[2]))) >= 16
