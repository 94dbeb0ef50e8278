import marshal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainsmith.blueprint.plain import from_plain, to_plain
from brainsmith.blueprint.resolve import resolve_parts
from brainsmith.blueprint.schema import (
    Arguments,
    Blueprint,
    KernelEntry,
    PluginName,
    Position,
    StepEntry,
)
from brainsmith.errors import PluginNotFoundError
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.snapshot import Snapshot

positions = st.builds(Position, st.just("x.yaml"), st.integers(1, 99), st.integers(1, 99))


def plugin_names(*known):
    return st.builds(PluginName, st.sampled_from(known), st.just(""), st.booleans(), positions)


values = st.dictionaries(st.sampled_from(["depth", "strict"]), st.integers() | st.lists(st.text(max_size=3)))
transforms = st.lists(
    st.builds(StepEntry, st.just("transform"), plugin_names("ExpandNorms", "norms", "nested", "gone"))
    | st.builds(StepEntry, st.just("transform"), plugin_names("MergeChains"), st.builds(Arguments, values)),
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
    plain = marshal.loads(marshal.dumps(to_plain((blueprint, selection))))
    again, selected = from_plain(plain, registry)
    assert again == blueprint
    assert selected == selection
    assert selected.records == selection.records
    assert repr((again, selected)) == repr((blueprint, selection))  # positions are not compared by ==


def test_a_plugin_that_is_gone_is_said(registry):
    blueprint = Blueprint("x.yaml", kernels=(KernelEntry(PluginName("MatMul")),), steps=())
    plain = to_plain(resolve_parts(blueprint, registry)[0])
    with pytest.raises(PluginNotFoundError, match="no kernel named 'MatMul' in 'brainsmith'"):
        from_plain(plain, Registry())


def test_a_selection_that_goes_without_finn_is_read_back(files):
    """What needs FINN cannot be used here, and is part of the selection all the same: a build goes as far as it can."""
    record = PluginInfo(
        name="needy",
        type="step",
        framework="acme",
        reference="acme:needy",
        requires=("finn-plus>=99",),
        origin="acme.py:1",
    )
    registry = Registry()
    registry.replace_discovered(Snapshot([record], {}, [], [], [], [], (), 0.0))
    selection = files.resolve("steps: [needy]", registry)
    assert [step.record for step in selection.steps] == [record]
    assert from_plain(marshal.loads(marshal.dumps(to_plain(selection))), registry) == selection
