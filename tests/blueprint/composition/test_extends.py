"""Several files as one: what goes before what, and what is wrong is said where it is written."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.blueprint.composition.overlays import MOST_FILES
from brainsmith.blueprint.loader import load_blueprint, missing_files
from brainsmith.blueprint.schema import PluginName
from brainsmith.errors import BlueprintError

BASE = """\
hw_compiler:
  target: {part: pynq-z2, clock: 5 ns, fps: 1000}
  kernels: {MVAU: rtl, Softmax: ~}
  args: {rtl_simulate: {frame_seconds: 60}}
  output: rtl
"""


@pytest.fixture
def load(files):
    """Load the last of several files, by name and text."""

    def loaded(overrides=(), **texts):
        names = {name: files.write(text, f"{name}.yaml") for name, text in texts.items()}
        return load_blueprint(names[list(texts)[-1]], overrides)

    return loaded


@pytest.fixture
def errors(load, files):
    def found(overrides=(), **texts):
        with pytest.raises(BlueprintError) as caught:
            load(overrides, **texts)
        return str(caught.value).replace(f"{files.folder}/", "").splitlines()

    return found


def test_mappings_are_merged_key_by_key_and_all_else_is_replaced(load):
    over = """\
extends: base.yaml
hw_compiler:
  target: {fps: 2000}
  kernels: [MatMul]
  args: {rtl_simulate: {stalls: 3}, fold: {target: ~}}
"""
    found = load(base=BASE, over=over)
    assert (found.goal.part, found.goal.clock_ns, found.goal.fps) == ("xc7z020clg400-1", 5.0, 2000)
    assert [entry.name for entry in found.kernels] == [PluginName("MatMul")]
    assert found.args["rtl_simulate"].values == {"frame_seconds": 60, "stalls": 3}
    assert found.args["fold"].values == {"target": None}
    assert found.output == "rtl"
    assert str(found.positions["output"]).endswith("base.yaml:5:3")


def test_null_takes_a_key_away_and_is_a_value_in_arguments(load):
    over = """\
extends: base.yaml
hw_compiler:
  target: {fps: ~, fit: {use: 50 %}, device: ~}
  args: {rtl_simulate: {frame_seconds: ~}}
  output: ~
"""
    found = load(base=BASE, over=over)
    assert (found.goal.fps, found.goal.fit.use, found.output) == (None, 0.5, None)
    assert found.args["rtl_simulate"].values == {"frame_seconds": None}


def test_a_file_may_be_complete_only_with_those_that_extend_it(load):
    """Pitfall 17."""
    base = "hw_compiler:\n  verify: {labels: labels.npy}\n  transforms: [ExpandNorms]\n"
    over = "extends: base.yaml\nhw_compiler:\n  verify: {inputs: x.npy}\n"
    found = load(base=base, over=over)
    assert found.transforms[0].name == PluginName("ExpandNorms")


def test_levels_and_lists_of_files_go_in_their_order_each_once(load):
    texts = {
        "root": "hw_compiler: {target: {fps: 1, clock: 1}, output: rtl}",
        "left": "extends: root.yaml\nhw_compiler: {target: {fps: 2, clock: 2}}",
        "right": "extends: root.yaml\nhw_compiler: {target: {clock: 3}}",
        "top": "extends: [left.yaml, right.yaml]\nhw_compiler: {strict: true}",
    }
    found = load(**texts)
    assert (found.goal.fps, found.goal.clock_ns, found.output, found.strict) == (2, 3.0, "rtl", True)
    assert [name.rsplit("/", 1)[1] for name in found.sources] == [
        f"{name}.yaml" for name in ("top", "left", "root", "right")
    ]


def test_a_file_that_only_extends_is_what_it_extends(load, files):
    found = load(base=BASE, over="extends: base.yaml")
    assert replace(found, file="") == replace(load_blueprint(files.folder / "base.yaml"), file="")


def test_several_files_are_merged_as_if_each_extended_those_before(load, files):
    load(base=BASE)
    paths = [files.folder / "base.yaml", files.write("hw_compiler: {target: {fps: 7}}", "over.yaml")]
    found = load_blueprint(paths)
    assert (found.goal.fps, found.goal.clock_ns) == (7, 5.0)
    assert found.file == f"{paths[0]} + {paths[1]}"


def test_files_are_named_beside_the_file_that_names_them(load, files):
    (files.folder / "data").mkdir()
    np.save(files.folder / "data" / "x.npy", np.zeros(1))
    (files.folder / "data" / "base.yaml").write_text(
        "hw_compiler: {verify: {inputs: x.npy, labels: none.npy}}"
    )
    found = load(over="extends: data/base.yaml")
    assert found.verify.inputs == str(files.folder / "data" / "x.npy")
    assert [str(each).replace(f"{files.folder}/", "") for each in missing_files(found)] == [
        "data/base.yaml:1:39: verify.labels names a file that does not exist: data/none.npy"
    ]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            {"a": "extends: b.yaml", "b": "extends: a.yaml"},
            ["a.yaml:1:10: extends files in a cycle: b.yaml -> a.yaml -> b.yaml"],
        ),
        ({"a": "extends: a.yaml"}, ["a.yaml:1:10: extends files in a cycle: a.yaml -> a.yaml"]),
        (
            {"base": BASE, "a": "extends: bas.yaml\nhw_compiler: {}"},
            ["a.yaml:1:10: extends: bas.yaml: there is no such file. Did you mean 'base.yaml'?"],
        ),
        (
            {"base": "hw_compiler: {output: rtll}\nfoo: 1", "a": "extends: base.yaml\nhw_compiler: {strict: 1}"},
            [
                "a.yaml:2:23: strict must be true or false, not 1",
                "base.yaml:1:23: output must be one of estimates, rtl, simulated, synthesised, not 'rtll'. "
                "Did you mean 'rtl'?",
                "base.yaml:2:1: unknown key 'foo' beside hw_compiler.",
            ],
        ),
        (
            {"base": "hw_compiler: [", "a": "extends: base.yaml\nhw_compiler: {}"},
            [
                "base.yaml:1:15: not valid YAML: expected the node content, but found '<stream end>'",
            ],
        ),
        ({"base": "", "a": "extends: base.yaml\nhw_compiler: {}"}, [
            "base.yaml:1:1: the file is empty; a blueprint is a mapping with the key hw_compiler"
        ]),
        (
            {"a": "extends: [~, 3, '${x}.yaml']\nhw_compiler: {}"},
            [
                "a.yaml:1:11: extends must be the path of a blueprint, or a list of them, not null",
                "a.yaml:1:14: extends must be the path of a blueprint, or a list of them, not 3",
                "a.yaml:1:17: extends takes no variables: they are known when all files were read",
            ],
        ),
        (
            {"a": "variables: {x: 1}"},
            ["a.yaml:1:1: the key hw_compiler is missing: everything in a blueprint belongs under it"],
        ),
        (
            {
                "base": "hw_compiler: {target: {fps: 1, fps: 2}}",
                "a": "extends: base.yaml\nhw_compiler: {target: {clock: 5}}",
            },
            ["base.yaml:1:32: key 'fps' in target is given twice: first at base.yaml:1:24"],
        ),
        (
            {"base": "hw_compiler: {change_steps: [], change_steps: []}", "a": "extends: base.yaml"},
            ["base.yaml:1:33: key 'change_steps' in hw_compiler is given twice: first at base.yaml:1:15"],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_where_it_is_written(errors, texts, expected):
    """Pitfalls 16, 17 and 20."""
    assert errors(**texts) == expected


def test_the_number_of_files_has_a_limit(errors):
    texts = {
        f"f{at}": f"extends: f{at - 1}.yaml" if at else "hw_compiler: {}" for at in range(MOST_FILES + 1)
    }
    assert errors(**texts) == [f"f1.yaml:1:10: the blueprint extends more than {MOST_FILES} files"]


keys = st.sampled_from(["output", "strict", "target", "args", "inputs"])
values = st.recursive(
    st.none() | st.integers() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
bodies = st.dictionaries(keys, values, max_size=4)


def laid_over(base, over, at=()):
    """Merge as docs/blueprint.md says it."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    found = {key: laid_over(base[key], over[key], (*at, key)) if key in base and key in over else {**base, **over}[key]
             for key in [*base, *over]}  # fmt: skip
    if len(at) > 1 and at[0] == "args":
        return found
    return {key: value for key, value in found.items() if value is not None}


@settings(deadline=None, max_examples=200)
@given(st.lists(bodies, min_size=2, max_size=4))
def test_nodes_are_merged_as_values_are(layers):
    from brainsmith.blueprint.composition.merge import merged
    from brainsmith.yaml_nodes import YamlDocument

    node, expected = None, None
    for layer in layers:
        node = merged(node, yaml.compose(yaml.safe_dump(layer)))
        expected = layer if expected is None else laid_over(expected, layer)
    assert YamlDocument("x").plain(node, "x") == expected
