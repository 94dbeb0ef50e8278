"""Points that are drawn or proposed: each new, each possible, and better ones with time."""

import numpy as np
import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_journal import PointRun
from brainsmith.exploration.strategies import Sampler

SPACE = """\
explore:
  objectives: {fps: max, lut: min}
  constraints: ["rate + clock < 900000", "lut < 4000"]
hw_compiler:
  target:
    part: pynq-z2
    clock: {choice: [5, 10], name: clock}
    fps: {range: [1000, 1000000, 1000], name: rate}
  kernels: {MVAU: {choice: [rtl, EmbeddedMVAURTL], name: unit}}
"""


@pytest.fixture
def space(tmp_path):
    (tmp_path / "space.yaml").write_text(SPACE)
    return load_space(tmp_path / "space.yaml")


def proposed(space, many, seed, strategy="random"):
    """Return what a sampler proposes that is told nothing."""
    sampler, found = Sampler(space, strategy, many, seed), []
    while more := list(sampler([])):
        found += [space.row_of(point) for point in more]
    return np.array(found)


def test_random_points_are_different_and_meet_the_constraints(space):
    points = proposed(space, 50, 0)
    assert len(np.unique(points, axis=0)) == len(points) == 50
    assert all(space.holds(row) for row in points)
    assert np.array_equal(points, proposed(space, 50, 0))
    assert not np.array_equal(points, proposed(space, 50, 1))


def test_they_are_drawn_from_spaces_that_are_too_large_to_list(tmp_path):
    variables = "".join(f"  v{at}: {{range: [1, 1000]}}\n" for at in range(4))
    device = "{lut: '${v1}', ff: '${v2}', bram18: '${v3}', dsp: 5}"
    target = f"hw_compiler:\n  target: {{part: pynq-z2, fps: '${{v0}}', device: {device}}}\n"
    text = f"variables:\n{variables}explore: {{constraints: ['v0 < v1']}}\n{target}"
    (tmp_path / "space.yaml").write_text(text)
    space = load_space(tmp_path / "space.yaml")
    assert space.size == 10**12
    points = proposed(space, 20, 3)
    assert len(points) == 20 and all(space.holds(row) for row in points)


def figures_of(space, point):
    values = {each.name: each.values[point[each.name]] for each in space.dimensions}
    rate, clock = values["rate"], values["clock"]
    return {"fps": rate, "lut": rate // 200 + 100 * clock + (50 if values["unit"] == "rtl" else 0)}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["tpe", "nsga2"])
def test_a_sampler_proposes_new_points_within_its_budget_seeds_first(space, strategy):
    sampler = Sampler(space, strategy, 30, seeds=[{"clock": 1, "rate": 6, "unit": 1}])
    seen, ended = [], []
    while more := list(sampler(ended)):
        assert len(more) == 1
        seen += more
        ended = [
            PointRun(str(point), 0, point, "estimates", "done", 1, figures_of(space, point), None, 1.0)
            for point in more
        ]
    assert len(seen) == 30 and len({tuple(sorted(point.items())) for point in seen}) == 30
    assert seen[0] == {"clock": 1, "rate": 6, "unit": 1}
    assert all(space.holds(space.row_of(point)) for point in seen)


def test_points_that_failed_or_break_a_constraint_are_told_as_such(space):
    sampler = Sampler(space, "tpe", 3)
    (first,) = sampler([])
    failed = PointRun("a", 0, first, "estimates", "failed", 1, None, "no layer", 1.0)
    (second,) = sampler([failed])
    large = PointRun("b", 0, second, "estimates", "done", 1, {"fps": 1, "lut": 9999}, None, 1.0)
    assert len(list(sampler([large]))) == 1
    assert list(sampler([])) == []


def test_a_space_that_is_used_up_ends_it(tmp_path):
    text = SPACE.replace("[1000, 1000000, 1000]", "[1000, 2000, 1000]").replace("[5, 10]", "[5]")
    (tmp_path / "space.yaml").write_text(text)
    sampler = Sampler(load_space(tmp_path / "space.yaml"), "tpe", 99)
    assert [len(list(sampler([]))) for _ in range(6)] == [1, 1, 1, 1, 0, 0]


def test_without_objectives_or_without_optuna_there_is_an_error(space, tmp_path, monkeypatch):
    (tmp_path / "none.yaml").write_text(SPACE.replace("  objectives: {fps: max, lut: min}\n", ""))
    with pytest.raises(ExplorationError) as caught:
        Sampler(load_space(tmp_path / "none.yaml"), "tpe", 3)
    assert str(caught.value) == (
        f"{tmp_path}/none.yaml: the strategy tpe needs objectives below explore: objectives: {{fps: max, lut: min}}"
    )
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(ExplorationError) as caught:
        Sampler(space, "nsga2", 3)
    assert str(caught.value) == 'the strategy nsga2 needs Optuna: pip install "brainsmith[search]"'
