"""Blocks in rows: none overlap, wires end at their blocks and cross none, whatever the design."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.drawing.placing import place

ROOM = 900.0


@st.composite
def designs(draw):
    sizes = draw(
        st.lists(st.sampled_from([(164.0, 80.0), (90.0, 80.0), (164.0, 132.0)]), min_size=1, max_size=14)
    )
    ends = st.integers(0, len(sizes) - 1)
    pairs = draw(st.sets(st.tuples(ends, ends), max_size=18))
    return sizes, sorted((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])


@given(designs())
def test_nothing_overlaps_and_no_wire_crosses_a_block(design):
    sizes, wires = design
    placed = place(sizes, wires, ROOM, 40.0)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(placed.corners, sizes, strict=True)]
    for index, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= placed.width <= ROOM
        assert 0 <= top < bottom <= placed.height
        for other in boxes[:index]:
            assert other[2] < left or right < other[0] or other[3] < top or bottom < other[1]
    for (source, target), route in zip(wires, placed.routes, strict=True):
        assert route[0][0] == boxes[source][2]
        assert route[-1][0] == boxes[target][0]
        for box, (_, y) in ((boxes[source], route[0]), (boxes[target], route[-1])):
            assert box[1] <= y <= box[1] + 80
        for (x, y), (to_x, to_y) in pairwise(route):
            assert x == to_x or y == to_y
            assert min(x, to_x) >= 0
            assert max(x, to_x) <= placed.width
            for left, top, right, bottom in boxes:
                beside = max(x, to_x) <= left or min(x, to_x) >= right
                assert beside or max(y, to_y) <= top or min(y, to_y) >= bottom


@given(designs())
def test_wires_of_different_rows_share_no_lane(design):
    sizes, wires = design
    placed = place(sizes, wires, ROOM, 40.0)
    tops = {y for _, y in placed.corners}
    spans = []
    for wire, route in enumerate(placed.routes):
        for (x, y), (to_x, to_y) in pairwise(route):
            if y == to_y and len(route) > 4 and not any(top <= y <= top + 80 for top in tops):
                spans.append((wire, y, min(x, to_x), max(x, to_x)))
    for index, (wire, y, left, right) in enumerate(spans):
        for other, level, start, end in spans[:index]:
            assert other == wire or y != level or right < start or end < left


def test_a_chain_is_read_like_text():
    placed = place([(164.0, 80.0)] * 5, [(0, 1), (1, 2), (2, 3), (3, 4)], 730.0, 40.0)
    assert [y for _, y in placed.corners] == [0.0, 0.0, 0.0, 131.0, 131.0]
    assert [len(route) for route in placed.routes] == [2, 2, 6, 2]
    assert placed.corners[0][0] == placed.corners[3][0]


def test_no_blocks():
    placed = place([], [], ROOM, 40.0)
    assert (placed.corners, placed.routes, placed.height) == ([], [], 0.0)


def test_of_a_forks_wires_the_one_to_the_next_block_is_straight():
    placed = place([(164.0, 80.0)] * 8, [(0, 1), (1, 2), (0, 2), (0, 4), (4, 5), (1, 5)], ROOM, 40.0)
    straight, middle, over, down, last, back = placed.routes
    for route in (straight, middle, last):
        assert len(route) == 2
    assert over[0][1] == straight[0][1] - 15  # runs above its row
    assert down[0][1] == straight[0][1] + 15
    assert over[-1][1] == middle[-1][1] - 15  # all come from above
    assert back[-1][1] == last[-1][1] - 15
    assert down[-1][1] == last[0][1]
