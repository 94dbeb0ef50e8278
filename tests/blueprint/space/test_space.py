"""Design spaces: the points are all combinations for which the constraints hold, each a blueprint of its own."""

import json
from itertools import product

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.space.space import MOST_POINTS, load_space
from brainsmith.errors import BlueprintError

SPACE = """\
variables:
  rate: {choice: [1000, 10000]}
  data: {choice: [a, b]}
explore:
  model: {choice: [w4.onnx, w2.onnx], name: bits}
  constraints: ["rate <= 1000 or bits == 'w2.onnx'"]
  objectives: {fps: max, lut: min}
hw_compiler:
  target: {part: pynq-z2, fps: "${rate}", clock: {range: [3, 4, 0.5]}}
  steps: [cleanup, {optional: fold, name: folded}, {choice: [estimate, {step: streamline}], labels: [a, b]}]
  verify:
    inputs: ${data}/x.npy
    tolerance: {fold: {choice: [{range: [0, 1], name: inner}, 7], name: outer, labels: [r, s]}}
"""


def space_of(files, text, overrides=()):
    return load_space(files.write(text), overrides)


def test_dimensions_have_names_values_and_places(files):
    space = space_of(files, SPACE)
    assert [(each.name, each.values, each.within) for each in space.dimensions] == [
        ("bits", ("w4.onnx", "w2.onnx"), None),
        ("rate", (1000, 10000), None),
        ("target.clock", (3, 3.5, 4), None),
        ("folded", (True, False), None),
        ("steps[2]", ("a", "b"), None),
        ("data", ("a", "b"), None),
        ("outer", ("r", "s"), None),
        ("inner", (0, 1), (6, 0)),
    ]
    assert str(space.dimensions[2].position).endswith("x.yaml:9:50")
    assert (space.size, len(space.points())) == (
        2 * 2 * 3 * 2 * 2 * 2 * 3,
        2 * 2 * 3 * 2 * 2 * 2 * 3 * 3 // 4,
    )
    assert space.objectives == {"fps": "max", "lut": "min"}


def test_a_point_is_a_blueprint_with_its_alternatives(files):
    space = space_of(files, SPACE)
    point = {
        "bits": 1,
        "rate": 1,
        "target.clock": 1,
        "folded": 1,
        "steps[2]": 1,
        "data": 1,
        "outer": 0,
        "inner": 1,
    }
    blueprint = space.blueprint(point)
    assert (blueprint.goal.fps, blueprint.goal.clock_ns) == (10000, 3.5)
    assert [entry.name.name for entry in blueprint.steps] == ["cleanup", "streamline"]
    assert blueprint.verify.inputs == f"{files.folder}/b/x.npy"
    assert blueprint.verify.tolerance == {"fold": 1.0}
    assert space.model(point) == f"{files.folder}/w2.onnx"


def test_a_value_that_is_set_makes_the_choice(files):
    space = space_of(files, SPACE, ["rate=500", "target.clock=4"])
    assert [each.name for each in space.dimensions] == [
        "bits",
        "folded",
        "steps[2]",
        "data",
        "outer",
        "inner",
    ]
    assert space.blueprint({}).goal.fps == 500
    assert len(space.points()) == space.size  # rate is 500, which the constraint allows with any model


def test_constraints_name_variables_that_are_no_choices(files):
    body = "hw_compiler: {args: {fold: {a: {range: [1, 5], name: a}}}}"
    text = f"variables: {{most: 3}}\nexplore: {{constraints: [a <= most]}}\n{body}\n"
    assert len(space_of(files, text).points()) == 3
    assert len(space_of(files, text, ["most=4"]).points()) == 4
    with pytest.raises(BlueprintError, match="no point of the space meets its constraints: a <= most"):
        space_of(files, text, ["most=0"]).points()


def test_a_choice_is_one_value_where_files_are_merged(files):
    files.write("hw_compiler: {target: {fps: {choice: [1, 2], name: rate}, clock: 5 ns}}", "base.yaml")
    over = "extends: base.yaml\nhw_compiler: {target: {fps: {range: [5, 7]}, clock: {choice: [3, 4]}}}"
    space = space_of(files, over)
    assert [(each.name, each.values) for each in space.dimensions] == [
        ("target.fps", (5, 6, 7)),
        ("target.clock", (3, 4)),
    ]
    assert space_of(files, over, {"target.clock": {"range": [1, 9]}}).size == 27


def test_a_build_needs_every_choice_made(files):
    assert files.errors("hw_compiler:\n  target: {fps: {choice: [1, 2]}}\n  steps: [{optional: fold}]\n") == [
        "x.yaml:2:17: target.fps is a choice of 2 values, and a build needs one: --set target.fps=VALUE; "
        "brainsmith explore tries them",
        "x.yaml:3:11: steps[0] is a choice of 2 values, and a build needs one: write one in its place; "
        "brainsmith explore tries them",
    ]
    path = files.write("hw_compiler:\n  target: {fps: {choice: [1, 2]}}\n")
    assert load_blueprint(path, ["target.fps=2"]).goal.fps == 2


def errors(files, text):
    with pytest.raises(BlueprintError) as caught:
        space_of(files, text).points()
    return str(caught.value).replace(f"{files.folder}/", "").splitlines()


FIGURES = "fps, interval_cycles, latency_cycles, lut, ff, bram18, uram, dsp, cost, fmax_mhz, accuracy"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{target: {fps: {choice: 3}}}", ["x.yaml:1:38: choice must be a list of alternatives, not 3"]),
        ("{target: {fps: {choice: []}}}", ["x.yaml:1:38: choice must be a list of alternatives, not an empty one"]),
        ("{target: {fps: {range: [1, 2, 0]}}}", ["x.yaml:1:37: range has 0 numbers: it must have 1 to 100,000"]),
        ("{target: {fps: {range: [1, 9000000]}}}",
         ["x.yaml:1:37: range has 9,000,000 numbers: it must have 1 to 100,000"]),
        ("{target: {fps: {range: [a, 2]}}}",
         ["x.yaml:1:37: range must be a list of the first number, the last and, unless it is 1, the step, not a list"]),
        ("{target: {fps: {choice: [1, many]}}}", ["x.yaml:1:42: target.fps must be a positive whole number, not 'many'"]),
        ("{target: {fps: {choice: [1, {range: [2, 3.5, 0.5]}]}}}",
         ["x.yaml:1:50: target.fps must be a positive whole number, not 2.5",
          "x.yaml:1:50: target.fps must be a positive whole number, not 3.5"]),
        ("{steps: [{choice: [a, b, c], labels: [x, y]}]}",
         ["x.yaml:1:51: there must be a label for each of the 3 alternatives, no two alike: labels: [small, large]"]),
        ("{steps: [{choice: [a, b], name: a b}]}",
         ["x.yaml:1:46: a choice must be named by letters, digits and _, not 'a b'"]),
        ("{steps: [{choice: [a, b], name: n}, {choice: [a, b, c], name: n}]}",
         ["x.yaml:1:50: n has 3 values here, and 2 at x.yaml:1:23: two choices of one name are one choice"]),
        ("{target: {fps: {choice: [1], rnge: 2}}}",
         ["x.yaml:1:29: target.fps must be a positive whole number, not a mapping"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_choice_is_said_where_it_is(files, text, expected):
    assert errors(files, f"hw_compiler: {text}") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{constraints: ['rat > 3']}",
         ["x.yaml:2:25: explore.constraints[0] names 'rat', which is neither a choice nor a figure. Did you mean 'rate'?"]),
        ("{constraints: ['3 > 2']}", [f"x.yaml:2:25: explore.constraints[0] names nothing. Names are rate, {FIGURES}."]),
        ("{constraints: ['rate >']}",
         ["x.yaml:2:25: explore.constraints[0]: 'rate >' is not a condition: invalid syntax"]),
        ("{constraints: ['rate > 9']}", ["x.yaml: no point of the space meets its constraints: rate > 9"]),
        ("{objectives: {fps: up}}", ["x.yaml:2:29: explore.objectives.fps must be max or min, not 'up'"]),
        ("{objectives: {speed: max}}",
         [f"x.yaml:2:24: unknown key 'speed' in explore.objectives. It takes {FIGURES}."]),
        ("{budget: 3}", ["x.yaml:2:11: unknown key 'budget' in explore. It takes model, constraints, objectives."]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_exploration_is_said_where_it_is(files, text, expected):
    body = "hw_compiler: {target: {fps: {choice: [1, 2], name: rate}}}"
    assert errors(files, f"{body}\nexplore: {text}\n") == expected


def test_a_space_that_is_too_large_says_what_to_narrow(files):
    steps = ", ".join(f"{{choice: [a, b, c, d, e, f, g, h, i, j], name: c{at}}}" for at in range(12))
    assert space_of(files, f"hw_compiler: {{steps: [{steps}]}}").size == 10**12
    found = errors(files, f"hw_compiler: {{steps: [{steps}]}}")
    assert found[0].startswith(
        f"x.yaml: 1,000,000,000,000 points are more than can be listed ({MOST_POINTS:,}): narrow c0 10,"
    )


# Spaces at random: trees of mappings and lists with choices in them, under `args`, where any value may stand.
def _choice(inner):
    return st.builds(lambda items: {"choice": items}, st.lists(inner, min_size=1, max_size=3)) | st.builds(
        lambda item: {"optional": item}, inner
    )


trees = st.recursive(
    st.integers(0, 3) | st.sampled_from("xy"),
    lambda inner: (
        _choice(inner)
        | st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("pq"), inner, max_size=2)
    ),
    max_leaves=7,
)
GONE = object()


def in_order(value):
    return json.dumps(value, sort_keys=True)


def made(tree):
    """Return all values that a tree may have, in the order of its choices."""
    if isinstance(tree, dict) and "choice" in tree:
        return [value for item in tree["choice"] for value in made(item)]
    if isinstance(tree, dict) and "optional" in tree:
        return [*made(tree["optional"]), GONE]
    if isinstance(tree, dict):
        return [
            {key: value for key, value in zip(tree, values, strict=True) if value is not GONE}
            for values in product(*(made(value) for value in tree.values()))
        ]
    if isinstance(tree, list):
        return [
            [value for value in values if value is not GONE]
            for values in product(*(made(item) for item in tree))
        ]
    return [tree]


@settings(deadline=None, max_examples=150)
@given(
    st.dictionaries(
        st.sampled_from(["fold", "estimate"]), st.dictionaries(st.sampled_from("mn"), trees), min_size=1
    )
)
def test_points_are_all_combinations_each_once(tmp_path_factory, args):
    expected = made(args)
    assume(len(expected) < 300)
    path = tmp_path_factory.mktemp("space") / "x.yaml"
    path.write_text(yaml.safe_dump({"hw_compiler": {"args": args}}))
    space = load_space(path)
    points = space.points()
    assert space.size == len(points) == len(expected)
    found = [space.blueprint(space.point_of(row)).args for row in points]
    plain = [{step: dict(given.values) for step, given in one.items()} for one in found]
    assert sorted(json.dumps(one, sort_keys=True) for one in plain) == sorted(
        json.dumps(one, sort_keys=True) for one in expected
    )


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(-3, 6))
def test_constraints_leave_the_points_for_which_they_hold(tmp_path_factory, first, second, limit):
    path = tmp_path_factory.mktemp("space") / "x.yaml"
    body = f"{{a: {{range: [1, {first}], name: a}}, b: {{range: [1, {second}], name: b}}, c: {{optional: 1, name: c}}}}"
    text = f"hw_compiler: {{args: {{fold: {body}}}}}\nexplore: {{constraints: ['a + 2 * b > {limit}', 'c or a < 3']}}\n"
    path.write_text(text)
    every = product(range(1, first + 1), range(1, second + 1), (True, False))
    expected = [[a - 1, b - 1, 1 - c] for a, b, c in every if a + 2 * b > limit and (c or a < 3)]
    if not expected:
        with pytest.raises(BlueprintError):
            load_space(path).points()
        return
    assert load_space(path).points().tolist() == expected
