"""A blueprint written as one file is the same blueprint, and each value has its place."""

from dataclasses import replace
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.blueprint.composition.written import plain_of, written
from brainsmith.blueprint.loader import parse_blueprint
from tests.blueprint.test_laws import kernel_form, kernels, step_form, steps, transforms, with_args

ROOT = Path(__file__).parents[3]
BASE = """\
variables: {rate: 1000}
hw_compiler:
  target: {part: pynq-z2, fps: "${rate}"}
  verify: {inputs: x.npy, tolerance: {"*": 1e-6}}
  args: {fold: {empty: {}, nothing: ~, list: [1, [two, 3.0]]}}
"""
OVER = """\
extends: base.yaml
hw_compiler:
  target: {clock: 5 ns}
  change_steps: [{remove: [pre_hw, transforms, post_hw, integer, hardware_inference, specialize]}]
"""


def text_of(path, overrides=()):
    parsed = parse_blueprint(path, overrides)
    assert parsed.problems == []
    return written(parsed.doc, parsed.body)


def test_each_value_has_the_place_that_it_comes_from(files):
    files.write(BASE, "base.yaml")
    over = files.write(OVER, "over.yaml")
    folder = files.folder
    places = [
        ("hw_compiler:", ""),
        ("  target:", ""),
        ("    part: pynq-z2", "base.yaml:3:18"),
        ("    fps: 2000", "--set rate=2000"),
        ("    clock: 5 ns", "over.yaml:3:19"),
        ("  verify:", ""),
        (f'    inputs: "{folder}/x.npy"', "base.yaml:4:20"),
        ("    tolerance:", ""),
        ('      "*": 1e-6', "base.yaml:4:44"),
        ("  args:", ""),
        ("    fold:", ""),
        ("      empty: {}", "base.yaml:5:24"),
        ("      nothing: ~", "base.yaml:5:37"),
        ("      list:", ""),
        ("        - 1", "base.yaml:5:47"),
        ("        - - two", "base.yaml:5:51"),
        ("          - 3.0", "base.yaml:5:56"),
        ("  steps:", ""),
        ("    - cleanup", "the default order"),
        ("    - fold", "the default order"),
        ("    - estimate", "the default order"),
    ]
    found = [
        tuple(map(str.rstrip, line.partition("  # ")[::2]))
        for line in text_of(over, ["rate=2000"]).splitlines()
    ]
    assert [(text, origin.replace(f"{folder}/", "")) for text, origin in found] == places


def test_programs_get_values_and_places(files):
    files.write(BASE, "base.yaml")
    parsed = parse_blueprint(files.write(OVER, "over.yaml"))
    found = plain_of(parsed.doc, parsed.body)
    assert found["hw_compiler"]["target"] == {"part": "pynq-z2", "fps": 1000, "clock": "5 ns"}
    assert found["origins"]["args.fold.list[1][0]"].endswith("base.yaml:5:51")
    assert found["hw_compiler"]["verify"]["inputs"] == f"{files.folder}/x.npy"


def same(path, again):
    """Assert that two files are the same blueprint, names of files apart."""
    first, second = parse_blueprint(path), parse_blueprint(again)
    assert second.problems == []
    assert replace(first.blueprint, file="") == replace(second.blueprint, file="")


def test_the_blueprints_of_the_repository_written_again_are_the_same(files):
    for path in sorted((ROOT / "blueprints").glob("*.yaml")):
        same(path, files.write(text_of(path)))


@settings(deadline=None, max_examples=100)
@given(
    st.lists(kernels, max_size=3), st.lists(transforms, max_size=2), st.lists(steps, min_size=1, max_size=3)
)
def test_whatever_is_written_again_is_the_same(tmp_path_factory, kernel_list, transform_list, step_list):
    body = {
        "kernels": [kernel_form(entry) for entry in kernel_list],
        "transforms": [with_args("transform", entry) for entry in transform_list],
        "steps": [*(step_form(entry) for entry in step_list), "transforms", "pre_hw", "post_hw"],
        "verify": {"tolerance": {"*": 1e-7}},
    }
    folder = tmp_path_factory.mktemp("written")
    (folder / "x.yaml").write_text(yaml.safe_dump({"hw_compiler": body}, allow_unicode=True), "utf-8")
    (folder / "y.yaml").write_text(text_of(folder / "x.yaml"), "utf-8")
    same(folder / "x.yaml", folder / "y.yaml")
