"""What holds of every file: it is read or every error lies inside it; what is written is what is read."""

import tempfile
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.schema import (
    KEYS,
    PHASES,
    Arguments,
    KernelEntry,
    PluginName,
    StepEntry,
)
from brainsmith.errors import BlueprintError

identifiers = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
plugin_names = st.builds(
    PluginName, identifiers, st.sampled_from(["", "finn", "qonnx", "acme-plugins"]), st.booleans()
)
plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(identifiers, inner, max_size=3),
    max_leaves=5,
)
arguments = st.builds(Arguments, st.dictionaries(identifiers, plain_values, max_size=3))
transforms = st.builds(StepEntry, st.just("transform"), plugin_names, arguments)
kernels = st.builds(
    KernelEntry,
    plugin_names,
    st.none() | st.lists(plugin_names, min_size=1, max_size=3, unique=True).map(tuple),
)
steps = st.builds(StepEntry, st.sampled_from(["step", "transform"]), plugin_names, arguments) | st.builds(
    StepEntry, st.just("phase"), st.builds(PluginName, st.sampled_from(PHASES))
)


def written(name):
    return ("~" if name.optional else "") + name.qualified


def with_args(kind, entry):
    return {kind: written(entry.name)} | ({"args": dict(entry.args.values)} if entry.args.values else {})


def kernel_form(entry):
    backends = {} if entry.backends is None else {"backends": [written(name) for name in entry.backends]}
    return {"kernel": written(entry.name)} | backends


def step_form(entry):
    return entry.name.name if entry.kind == "phase" else with_args(entry.kind, entry)


def load_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_blueprint(path)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(kernels, max_size=3),
    st.lists(transforms, max_size=3),
    st.lists(steps, min_size=1, max_size=4),
    st.booleans(),
)
def test_what_is_written_is_what_is_read(kernel_list, transform_list, step_list, flow):
    step_list.append(StepEntry("phase", PluginName("pre_hw")))
    document = {
        "kernels": [kernel_form(entry) for entry in kernel_list],
        "transforms_phased": {"pre_hw": [with_args("transform", entry) for entry in transform_list]},
        "steps": [step_form(entry) for entry in step_list],
    }
    text = yaml.safe_dump({"hw_compiler": document}, default_flow_style=flow, allow_unicode=True)
    blueprint = load_text(text)
    assert blueprint.kernels == tuple(kernel_list)
    assert blueprint.pre_hw == tuple(transform_list)
    assert blueprint.steps == tuple(step_list)


known_words = [word for keys in KEYS.values() for word in keys]
words = st.sampled_from([*known_words, "hls", "~", "~x", "a b", "5 ns", "x:y"])
leaves = words | plain_values | st.sampled_from([float("nan"), float("inf"), 10**30])
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | st.integers(), inner, max_size=5),
    max_leaves=25,
)


def check_any(text):
    try:
        load_text(text)
    except BlueprintError as error:
        assert error.problems
        shown = (text if isinstance(text, str) else text.decode("utf-8-sig", "replace")) or "\n"
        # YAML counts these as line breaks, and only these.
        for break_ in ("\r\n", "\r", "\x85", "\u2028", "\u2029"):
            shown = shown.replace(break_, "\n")
        lines = shown.split("\n")
        for problem in error.problems:
            if problem.line:
                assert 1 <= problem.line <= len(lines), (problem, lines)
                assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1, (problem, lines)


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from(KEYS["hw_compiler"]), trees), st.booleans())
def test_any_tree_under_the_root_is_read_or_refused_with_places(tree, flow):
    check_any(yaml.safe_dump({"hw_compiler": tree}, default_flow_style=flow))


@settings(deadline=None, max_examples=150)
@given(st.text(st.sampled_from("hw_compiler:kernels- []{},~&*!|>'\"\n\t #%@`<=\r\x85\u2028a1.é")) | st.text())
def test_any_text_is_read_or_refused_with_places(text):
    check_any(text.encode("utf-8", "surrogatepass"))


@settings(deadline=None, max_examples=50)
@given(st.binary())
def test_any_bytes_are_read_or_refused_with_places(data):
    check_any(data)
