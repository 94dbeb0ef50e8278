"""The JSON Schema says of every document what the readers say, but for what only they can know."""

import json
import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from brainsmith.blueprint.json_schema import json_schema
from brainsmith.blueprint.loader import parse_blueprint
from brainsmith.blueprint.schema import GOALS, KEYS, PHASES
from brainsmith.yaml_file import root_of
from brainsmith.yaml_nodes import YamlDocument
from tests.blueprint.test_docs import BLUEPRINTS, ROOT, YAML
from tests.blueprint.test_laws import (
    kernel_form,
    kernels,
    plain_values,
    step_form,
    steps,
    transforms,
    trees,
    with_args,
)

FILE = ROOT / "brainsmith" / "blueprint" / "blueprint.schema.json"
VALIDATOR = Draft7Validator(json_schema())

# What no schema says: it depends on two values, or on what there is.
ONLY_READ = re.compile(
    "|".join(
        (
            r"is given twice|is listed twice|stands? \d times",
            r"target\.part(:| must be a device)|needs target\.part|both choose the foldings|needs the rate",
            r"target\.clock must be from",
            r"needs verify\.inputs|must be a datatype of integers",
            r"cannot be optional|would never run|names the last step before|is not in the order",
            r"is a list: write one name",
            r"there is no variable|has no value|extends takes no variables|extends: |in a cycle",
            r"insert needs|replace needs|wrap needs|takes nothing else|wrap names a step|must be start or end",
            r"names targets, and .* is a device",
            r"is a choice of|is neither a choice nor a figure|names nothing",
            r"not (null|empty)$|\(as \$\{x\} at",  # null takes away what a blueprint extends
            r"must be a name \(|must be a plain value|the key hw_compiler is missing",
            r"a key in .* must be a string|is empty: write a name|must be named by letters",
            r"for a name with its framework|for arguments, write|It belongs under",
            r"target\.fit\.use must be (more|a share)",
        )
    )
)


def values_of(text):
    """Return a document as an editor sees it."""
    document = YamlDocument("x")
    return document.plain(root_of("x", text.encode()), "x")


def complaints(document):
    return [error.message[:200] for error in VALIDATOR.iter_errors(document)]


def read(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("schema") / "x.yaml"
    path.write_text(text, "utf-8")
    return [problem.text for problem in parse_blueprint(path).problems]


def test_the_file_in_the_package_is_what_the_code_says():
    assert json.loads(FILE.read_text()) == json_schema()
    Draft7Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", BLUEPRINTS, ids=lambda path: path.name)
def test_the_blueprints_of_the_repository_name_it_and_follow_it(path):
    text = path.read_text()
    first = text.splitlines()[0]
    assert (
        path.name == "transformer.yaml"
        or first == "# yaml-language-server: $schema=../brainsmith/blueprint/blueprint.schema.json"
    )
    assert complaints(values_of(text)) == []


def test_the_example_of_a_space_follows_it():
    assert complaints(values_of((ROOT / "examples" / "explore" / "space.yaml").read_text())) == []


@pytest.mark.parametrize("block", YAML, ids=range(len(YAML)))
def test_every_block_of_the_reference_follows_it(block):
    assert complaints(values_of(block)) == []


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "hw_compiler: []",
        "hw_compiler: {colour: red}",
        "hw_compiler: {}\nname: x",
        "hw_compiler: {output: bitstream}",
        "hw_compiler: {strict: 1}",
        "hw_compiler: {target: {fps: 0}}",
        "hw_compiler: {target: {fps: 2000000001}}",
        "hw_compiler: {target: {clock: fast}}",
        "hw_compiler: {target: {clock: 50}}",
        "hw_compiler: {target: {part: 3}}",
        "hw_compiler: {target: {device: {lut: 1}}}",
        "hw_compiler: {target: {fit: {use: 0}}}",
        "hw_compiler: {target: {fit: {goal: speed}}}",
        "hw_compiler: {kernels: [3]}",
        "hw_compiler: {kernels: [{kernel: a, backend: b}]}",
        "hw_compiler: {steps: []}",
        "hw_compiler: {steps: [{step: a, transform: b}]}",
        "hw_compiler: {steps: [{step: a, passes: 0}]}",
        "hw_compiler: {transforms: [{step: a}]}",
        "hw_compiler: {change_steps: [{insert: a}]}",
        "hw_compiler: {change_steps: [{remove: a, wrap: b, with: [c, d]}]}",
        "hw_compiler: {verify: {targets: [numpy]}}",
        "hw_compiler: {verify: {approximate: {fold: {classes: 1}}}}",
        "hw_compiler: {verify: {changes_outputs: {fold: {}}}}",
        "hw_compiler: {verify: {tolerance: -1}}",
        "hw_compiler: {args: {fold: 3}}",
        "hw_compiler: {inputs: {image: UINT8}}",
        "extends: 3",
        "variables: {a-b: 1}\nhw_compiler: {}",
        "explore: {objective: {fps: max}}\nhw_compiler: {}",
        "hw_compiler: {target: {fps: {choice: 3}}}",
        "hw_compiler: {target: {fps: {range: [1]}}}",
        "hw_compiler: {target: {fps: {choice: [1], range: [1, 2]}}}",
    ],
)
def test_both_refuse(tmp_path_factory, text):
    assert read(tmp_path_factory, text) != []
    assert complaints(values_of(text)) != []


some = st.sampled_from
bodies = st.fixed_dictionaries(
    {},
    optional={
        "target": st.fixed_dictionaries({}, optional={
            "part": some(["pynq-z2", "xczu7ev-ffvc1156-2-e", "nope", "${x}"]),
            "clock": some([5, 0.5, 49.9, "5 ns", "200MHz", "1 GHz", "soon", "9 lightyears", "${x}", 500]),
            "fps": some([1, 1e5, 0, -3, 2.5, "${x}", "many", None, True, 10**10]),
            "fit": st.fixed_dictionaries({}, optional={
                "use": some(["80 %", 0.5, 1, 0, 2, "x", "${x}"]), "goal": some([*GOALS, "speed"]),
                "at_least": some([{"fps": 3}, {}, None, {"rate": 3}])})}) | some([None, [], "x"]),
        "inputs": some([{"datatype": "UINT8"}, {"a": {"datatype": "INT4"}}, {"a": {}}, {"a": 3}, None, {"datatype": 3}]),
        "kernels": st.lists(kernels.map(kernel_form), max_size=2)
        | some([{"A": "rtl", "B": None}, None, 3, [{"A": ["b"]}]]),
        "transforms": st.lists(transforms.map(lambda one: with_args("transform", one)), max_size=2) | some([None, {}, [3]]),
        "transforms_phased": some([None, {"pre_hw": ["A"]}, {"pre": []}, {"post_hw": None}]),
        "steps": st.lists(steps.map(step_form), max_size=3).map(lambda found: [*found, *PHASES]) | some([None, [], {}]),
        "change_steps": some([[], None, [{"remove": "fold"}], [{"insert": "a", "after": "fold"}], [{"insert": "a"}],
                              [{"wrap": "fold", "with": ["a", "b"]}], ["x"],
                              [{"replace": "fold", "with": {"transform": "a"}}]]),
        "args": st.dictionaries(some(["fold", "rtl_simulate"]), plain_values, max_size=2),
        "verify": st.fixed_dictionaries({}, optional={
            "inputs": some(["x.npy", 3, "", "${x}"]), "labels": some(["y.npy", None]),
            "tolerance": some([0, 1e-6, {"*": 0, "a": 1}, {"a": "b"}, -1, None]),
            "approximate": some([{"a": {"error": 1}}, {"a": {"error": 1, "classes": 2}}, {"a": {}}, {"a": None}, None]),
            "changes_outputs": some([{"a": {"labels": "y.npy"}}, {"a": {}}, None]),
            "unverified": some([["a"], [], "a", [3], None]),
            "targets": some([["numpy", "reference"], [], ["numpy"], "numpy", None])}),
        "output": some(["rtl", "simulated", "bits", "${x}", None, {"choice": ["rtl", "estimates"]}, {"choice": []}]),
        "strict": some([True, False, "yes", 1, "${x}"]),
    },
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(bodies, st.booleans())
def test_what_is_read_follows_the_schema_and_the_other_way_round(tmp_path_factory, body, flow):
    document = {"variables": {"x": "5 ns"}, "hw_compiler": body}
    agree(tmp_path_factory, yaml.safe_dump(document, default_flow_style=flow, allow_unicode=True))


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(some(KEYS["hw_compiler"]), trees), st.booleans())
def test_any_tree_is_judged_alike(tmp_path_factory, tree, flow):
    agree(tmp_path_factory, yaml.safe_dump({"hw_compiler": tree}, default_flow_style=flow))


def agree(tmp_path_factory, text):
    """Assert that a document is refused by both, or by neither, but for what only the readers know."""
    problems, found = read(tmp_path_factory, text), complaints(values_of(text))
    if not problems:
        assert found == [], text
    if not found:
        assert [problem for problem in problems if not ONLY_READ.search(problem)] == [], text
