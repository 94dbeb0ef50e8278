import pytest

from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "transforms: [{transform: MergeChains, args: {dept: 1}}]",
            "2:48: transform 'MergeChains' has no argument 'dept'. Did you mean 'depth'?",
        ),
        (
            "transforms: [{transform: MergeChains, args: {colour: 1}}]",
            "2:48: transform 'MergeChains' has no argument 'colour'. It takes depth, strict.",
        ),
        (
            "transforms: [{transform: ExpandNorms, args: {colour: 1}}]",
            "2:48: transform 'ExpandNorms' has no argument 'colour'. It takes none.",
        ),
        (
            "transforms: [Quantize]",
            "2:16: transform 'Quantize' needs bits: write {transform: Quantize, args: {bits: ...}}",
        ),
        (
            "transforms: [needy]",
            "2:16: transform 'Quantize' of group 'needy' needs bits: "
            "write {transform: Quantize, args: {bits: ...}}",
        ),
        (
            "transforms: [{transform: norms, args: {a: 1}}]",
            "2:28: 'norms' is a group, which takes no arguments: name its members instead",
        ),
        (
            "steps: [{step: fold, args: {model: 1}}]",
            "2:31: step 'fold' has no argument 'model'. It takes target.",
        ),
        (
            "steps: [cleanup]\nverify: {tolerance: {cleanupp: 1, '*': 0}}",
            "3:24: verify.tolerance names 'cleanupp', which is not a step of this build. "
            "Did you mean 'cleanup'?",
        ),
        (
            "steps: [step_tidy_up, transforms]\nverify: {tolerance: {transforms: 1}}\n"
            "transforms: [ExpandNorms]",
            "3:24: verify.tolerance names 'transforms', which is not a step of this build. "
            "It has finn:step_tidy_up, ExpandNorms.",
        ),
    ],
)
def test_arguments_and_tolerances_that_fit_nothing(files, registry, text, expected):
    assert files.resolve_errors(text, registry) == [f"x.yaml:{expected}"]


def test_arguments_reach_the_use(files, registry):
    text = (
        "transforms: [{transform: Quantize, args: {bits: 4}}, {transform: Open, args: {any: [1]}}]\n"
        "steps: [transforms, {step: fold, args: {target: 5}},"
        " {transform: MergeChains, args: {strict: false}}]"
    )
    selection = files.resolve(text, registry)
    assert [use.args for use in selection.transforms] == [{"bits": 4}, {"any": [1]}]
    assert [(use.name, use.kind, use.args) for use in selection.steps] == [
        ("transforms", "phase", {}),
        ("fold", "step", {"target": 5}),
        ("MergeChains", "transform", {"strict": False}),
    ]


def test_an_unreadable_source_is_said_not_hidden(files):
    registry = Registry()
    info = PluginInfo(name="Loose", type="transform", framework="project", reference="shell:Loose", stage="x")
    registry.register(info)
    registry.register(PluginInfo(name="go", type="step", framework="project", reference="shell:go"))
    selection = files.resolve("transforms: [Loose]\nsteps: [transforms, go]", registry)
    assert [use.record.name for use in selection.transforms] == ["Loose"]
    unread = "are not checked: {} 'project:{}': its source 'shell' does not exist"
    assert [text.partition(": ")[2] for text in selection.skipped] == [
        "the arguments of 'Loose' " + unread.format("transform", "Loose"),
        "the arguments of 'go' " + unread.format("step", "go"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "steps: [{step: rtl_simulate, args: {frame_seconds: soon}}]",
            "2:39: frame_seconds of step 'rtl_simulate' must be a number, not 'soon'",
        ),
        (
            "args: {rtl_simulate: {seeds: 1.5}}",
            "2:25: seeds of step 'rtl_simulate' must be a whole number, not 1.5",
        ),
        (
            "args: {rtl_simulate: {seeds: true}}",
            "2:25: seeds of step 'rtl_simulate' must be a whole number, not True",
        ),
        (
            "args: {rtl_simulate: {limit: no}}",
            "2:25: limit of step 'rtl_simulate' must be a whole number or null, not False",
        ),
        (
            "args: {rtl_simulate: {trace: 1}}",
            "2:25: trace of step 'rtl_simulate' must be true or false, not 1",
        ),
        (
            "args: {rtl_simulate: {frame_second: 1}}",
            "2:25: step 'rtl_simulate' has no argument 'frame_second'. Did you mean 'frame_seconds'?",
        ),
        (
            "args: {rtl_simulat: {seeds: 1}}",
            "2:10: args names 'rtl_simulat', which is not a step of this build. Did you mean 'rtl_simulate'?",
        ),
        (
            "steps: [cleanup]\nargs: {fold: {}}",
            "3:10: args names 'fold', which is not a step of this build. It has cleanup.",
        ),
        (
            "steps: [{step: rtl_simulate, args: {seeds: 1}}]\nargs: {rtl_simulate: {seeds: 2}}",
            "3:25: argument 'seeds' of step 'rtl_simulate' is given twice: first at x.yaml:2:39",
        ),
        ("args: {rtl_simulate: 3}", "2:24: args.rtl_simulate must be a mapping from names to values, not 3"),
    ],
)
def test_arguments_of_steps_are_checked_before_the_build(files, text, expected):
    text = f"{text}\noutput: simulated"
    errors = files.resolve_errors(text, get_plugin_manager().registry)
    assert errors == [f"x.yaml:{expected}"]


@pytest.mark.parametrize("output", ["estimates", "simulated"])
def test_arguments_by_name_reach_steps_that_the_file_does_not_list(files, output):
    text = (
        "args: {estimate: {}, rtl_simulate: {frame_seconds: 5, limit: null}, rtl_size_fifos: {search: false}}\n"
        f"output: {output}"
    )
    selection = files.resolve(text, get_plugin_manager().registry)
    found = {step.name: step.args for step in selection.steps if step.args}
    given = {"rtl_simulate": {"frame_seconds": 5, "limit": None}, "rtl_size_fifos": {"search": False}}
    assert found == (given if output == "simulated" else {})


def test_arguments_by_name_stand_beside_those_of_the_entry(files):
    text = "steps: [{step: rtl_simulate, args: {seeds: 1}}]\nargs: {rtl_simulate: {frames: 2}}"
    (step,) = (
        step
        for step in files.resolve(text, get_plugin_manager().registry).steps
        if step.name == "rtl_simulate"
    )
    assert step.args == {"frames": 2, "seeds": 1}
