import pytest

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
