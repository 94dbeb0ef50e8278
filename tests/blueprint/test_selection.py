import marshal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.blueprint.resolve import resolve_parts
from brainsmith.blueprint.schema import (
    Arguments,
    Blueprint,
    KernelEntry,
    PluginName,
    Position,
    StepEntry,
    TransformEntry,
)
from brainsmith.blueprint.selection import Selection, selection_from_plain, selection_to_plain
from brainsmith.errors import PluginNotFoundError
from brainsmith.plugin.registry import Registry

positions = st.builds(Position, st.just("x.yaml"), st.integers(1, 99), st.integers(1, 99))


def plugin_names(*known):
    return st.builds(PluginName, st.sampled_from(known), st.just(""), st.booleans(), positions)


values = st.dictionaries(st.sampled_from(["depth", "strict"]), st.integers() | st.lists(st.text(max_size=3)))
transforms = st.lists(
    st.builds(TransformEntry, plugin_names("ExpandNorms", "norms", "nested", "gone"))
    | st.builds(TransformEntry, plugin_names("MergeChains"), st.builds(Arguments, values)),
    max_size=4,
).map(tuple)
kernels = st.lists(
    st.builds(
        KernelEntry,
        plugin_names("MatMul", "softmax", "MVAU", "Bare"),
        st.none() | st.lists(plugin_names("hls", "rtl"), min_size=1, max_size=2).map(tuple),
    ),
    max_size=4,
).map(tuple)
steps = st.lists(
    st.builds(StepEntry, st.just("step"), plugin_names("cleanup", "step_tidy_up", "nowhere"))
    | st.builds(StepEntry, st.just("phase"), plugin_names("pre_hw", "transforms"))
    | st.builds(StepEntry, st.just("transform"), plugin_names("MergeChains", "norms")),
    max_size=5,
).map(tuple)
blueprints = st.builds(
    Blueprint, st.just("x.yaml"), kernels=kernels, transforms=transforms, pre_hw=transforms, steps=steps
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(blueprints)
def test_the_plain_form_gives_the_same_selection(registry, blueprint):
    selection, problems = resolve_parts(blueprint, registry)
    assert all(problem.file == "x.yaml" and problem.line >= 1 for problem in problems)
    plain = marshal.loads(marshal.dumps(selection_to_plain(selection)))
    again = selection_from_plain(plain, registry)
    assert again == selection
    assert again.records == selection.records
    assert selection_to_plain(again) == plain
    for name in ("kernels", "pre_hw", "transforms", "steps"):
        before, after = getattr(selection, name), getattr(again, name)
        assert [use.position for use in before] == [use.position for use in after]


def test_a_plugin_that_is_gone_is_said(registry):
    blueprint = Blueprint("x.yaml", kernels=(KernelEntry(PluginName("MatMul")),), steps=())
    plain = selection_to_plain(resolve_parts(blueprint, registry)[0])
    with pytest.raises(PluginNotFoundError, match="no kernel named 'MatMul' in 'brainsmith'"):
        selection_from_plain(plain, Registry())


def test_a_plain_form_of_another_version_is_refused(registry):
    plain = {**selection_to_plain(Selection()), "version": 99}
    with pytest.raises(ValueError) as caught:
        selection_from_plain(plain, registry)
    assert str(caught.value) == "the plain form of a selection must have version 1, not 99"


def test_each_plugin_is_listed_once(registry):
    twice = (TransformEntry(PluginName("ExpandNorms")), TransformEntry(PluginName("norms")))
    steps = (StepEntry("transform", PluginName("MergeChains")),)
    blueprint = Blueprint("x.yaml", transforms=twice, steps=steps)
    selection, problems = resolve_parts(blueprint, registry)
    assert problems == []
    assert [record.name for record in selection.records] == ["ExpandNorms", "Streamline", "MergeChains"]
