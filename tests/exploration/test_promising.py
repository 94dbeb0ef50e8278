"""Which points are worth building: the first fronts, each front end if the models do not know all, and none twice."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.exploration.model_figures import front_ends_of
from brainsmith.exploration.pareto import fronts_of
from brainsmith.exploration.promising import promising, thinned
from tests.exploration.test_model_figures import SPACE, front_with, space_of

RATES = "[1000, 50000, 100000]"


def chosen(space, fronts, most):
    points = space.points()
    front_ends = front_ends_of(space, points)
    table = front_ends.figures(fronts)
    return front_ends, table, promising(front_ends, table, most)


def test_of_points_that_come_out_the_same_one_is_built(tmp_path):
    text = SPACE.replace(RATES, "[1, 2, 3, 4]").replace("{optional: estimate, name: counted}", "estimate")
    _, _, rows = chosen(space_of(tmp_path, text), [front_with([10, 20])] * 4, 99)
    assert list(rows) == [0, 4, 8, 12]  # one for each board and clock, which the models do not tell apart


def test_points_that_break_a_constraint_on_figures_are_not_built(tmp_path):
    text = SPACE.replace("explore: {", 'explore: {constraints: ["fps >= 5000000", "lut < 100"], ')
    _, table, rows = chosen(space_of(tmp_path, text), [front_with([10, 20, 3000])] * 4, 99)
    assert len(rows) and (table["fps"][rows] >= 5e6).all()
    assert not (table["fps"] >= 5e6).all()


def test_where_an_objective_is_not_known_each_front_end_has_its_share(tmp_path):
    text = SPACE.replace("lut: min", "accuracy: max")
    front_ends, _, rows = chosen(
        space_of(tmp_path, text), [front_with([10]), front_with([20]), front_with([30]), front_with([40])], 4
    )
    assert [int(np.isin(rows, one.rows).sum()) for one in front_ends.each] == [2, 2, 0, 0] or len(rows) == 4


def test_a_front_end_without_models_is_represented(tmp_path):
    front_ends, _, rows = chosen(space_of(tmp_path), [front_with([10, 20]), None, None, front_with([10])], 9)
    assert {front_ends.each[1].rows[0], front_ends.each[2].rows[0]} <= set(rows)


@given(st.integers(0, 30), st.integers(0, 12))
def test_thinned_keeps_the_ends(count, most):
    rows = thinned(np.arange(count), most)
    assert len(rows) == min(count, most)
    if count and most > 1:
        assert rows[0] == 0 and rows[-1] == count - 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_fronts_take_all_points_in_turn_and_each_later_point_is_beaten_by_one_of_the_front_before(points):
    columns = {name: np.array([point[at] for point in points], float) for at, name in enumerate("ab")}
    fronts = list(fronts_of(columns, {"a": "min", "b": "max"}))
    assert sorted(int(at) for front in fronts for at in front) == list(range(len(points)))
    for before, after in pairwise(fronts):
        for at in after:
            assert any(
                points[by][0] <= points[at][0] and points[by][1] >= points[at][1] and points[by] != points[at]
                for by in before
            )
