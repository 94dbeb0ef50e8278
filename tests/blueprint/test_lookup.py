import pytest

from brainsmith.blueprint.schema import DEFAULT_STEPS
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry


def kernels(selection):
    return [use.record.qualified for use in selection.kernels]


def transforms(selection):
    return [use.record.qualified for use in selection.transforms]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("MatMul", "brainsmith:MatMul"),
        ("matmul", "brainsmith:MatMul"),
        ("MATMUL", "brainsmith:MatMul"),
        ("finn:MVAU", "finn:MVAU"),
        ("FINN:mvau", "finn:MVAU"),
        ("mvau", "finn:MVAU"),
        ("LayerNorm", "brainsmith:LayerNorm"),
        ("layernorm", "brainsmith:LayerNorm"),
        ("finn:layernorm", "finn:LayerNorm"),
        ("acme-norms:FancyMatMul", "acme-norms:FancyMatMul"),
        ("acme_norms:FancyMatMul", "acme-norms:FancyMatMul"),
    ],
)
def test_a_name_is_exact_or_matches_whatever_the_case(files, registry, written, expected):
    assert kernels(files.resolve(f"kernels: ['{written}']", registry)) == [expected]


def test_a_group_gives_its_members_in_declared_order(files, registry):
    selection = files.resolve("transforms: [norms]", registry)
    assert [(use.record.qualified, use.group) for use in selection.transforms] == [
        ("brainsmith:ExpandNorms", "norms"),
        ("finn:Streamline", "norms"),
    ]


def test_a_stage_is_a_group_of_the_transforms_that_state_it(files, registry):
    selection = files.resolve("transforms: [topology]", registry)
    assert transforms(selection) == ["brainsmith:ExpandNorms", "brainsmith:MergeChains"]


def test_a_group_of_kernels_and_of_groups(files, registry):
    assert kernels(files.resolve("kernels: [dense]", registry)) == ["brainsmith:MatMul", "finn:MVAU"]
    selection = files.resolve("transforms: [nested]", registry)
    assert transforms(selection) == ["brainsmith:ExpandNorms", "finn:Streamline", "brainsmith:MergeChains"]
    (skipped,) = selection.skipped
    assert skipped.endswith(
        "x.yaml:2:16: optional member of group 'nested' 'Gone' is left out: "
        "no transform or group named 'Gone'."
    )


def test_a_plugin_wins_over_a_group_of_its_name(files):
    registry = Registry()
    for name, stage in (("Fold", "other"), ("First", "fold")):
        registry.register(PluginInfo(name=name, type="transform", framework="project", stage=stage))
    for step in DEFAULT_STEPS:
        registry.register(PluginInfo(name=step, type="step", framework="project"))
    assert transforms(files.resolve("transforms: [fold]", registry)) == ["project:Fold"]


COUNT = {"kernel": 6, "transform": 8, "step": 17}


def registered(kind):
    return f"  {COUNT[kind]} are registered: brainsmith plugins list --type {kind}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernels: [Softmx]", ["2:13: no kernel or group named 'Softmx'. Did you mean 'Softmax'?", "K"]),
        ("kernels: [xyzzy]", ["2:13: no kernel or group named 'xyzzy'.", "K"]),
        ("kernels: [finn:MVU]", ["2:13: no kernel named 'MVU' in 'finn'. Did you mean 'MVAU'?", "K2"]),
        (
            "kernels: [fin:MVAU]",
            [
                "2:13: no plugin of framework 'fin' is registered. Did you mean 'finn'?",
                "H",
            ],
        ),
        (
            "kernels: [MVAU_rtl]",
            [
                "2:13: no kernel or group named 'MVAU_rtl'. 'MVAU_rtl' is a backend: "
                "write {kernel: MVAU, backends: [MVAU_rtl]}",
                "K",
            ],
        ),
        ("kernels: [MatMul, matmul]", ["2:21: kernel 'MatMul' is listed twice: first at x.yaml:2:13"]),
        (
            "transforms: [MovePastFork]",
            [
                "2:16: transform 'MovePastFork' exists in several frameworks; say which: "
                "finn:MovePastFork, qonnx:MovePastFork"
            ],
        ),
        (
            "transforms: [~MovePastFork]",
            [
                "2:16: transform 'MovePastFork' exists in several frameworks; say which: "
                "finn:MovePastFork, qonnx:MovePastFork"
            ],
        ),
        (
            "transforms: [cased]",
            ["2:16: transform 'cased' matches 'CASED', 'Cased', which differ in case: write one of them"],
        ),
        (
            "transforms: [MatMul]",
            ["2:16: no transform or group named 'MatMul'. 'MatMul' is a kernel: list it under kernels", "T"],
        ),
        (
            "transforms: [fold]",
            ["2:16: no transform or group named 'fold'. 'fold' is a step: list it under steps", "T"],
        ),
        (
            "transforms: [topolgy]",
            ["2:16: no transform or group named 'topolgy'. Did you mean 'topology'?", "T"],
        ),
        ("transforms: [loop]", ["2:16: group 'loop' contains itself: loop > ring > loop"]),
        (
            "transforms: [broken]",
            [
                "2:16: in group 'broken': no transform or group named 'Missing'.",
                "T",
                "2:16: in group 'broken': no transform or group named 'AlsoMissing'.",
                "T",
            ],
        ),
        (
            "transforms: [dense]",
            [
                "2:16: in group 'dense': no transform or group named 'MatMul'. "
                "'MatMul' is a kernel: list it under kernels",
                "T",
                "2:16: in group 'dense': no transform named 'MVAU' in 'finn'. "
                "'MVAU' is a kernel: list it under kernels",
                "T4",
            ],
        ),
        (
            "steps: [Streamlin]",
            ["2:11: no step or group named 'Streamlin'. Did you mean 'streamline'?", "S"],
        ),
        (
            "steps: [MergeChains]",
            [
                "2:11: no step or group named 'MergeChains'. 'MergeChains' is a transform: "
                "write {transform: MergeChains}",
                "S",
            ],
        ),
        (
            "steps: [norms]",
            [
                "2:11: no step or group named 'norms'. 'norms' is a group of transforms: "
                "write {transform: norms}",
                "S",
            ],
        ),
        (
            "kernels: [topology]",
            [
                "2:13: no kernel or group named 'topology'. 'topology' is a group of transforms: "
                "list it under transforms",
                "K",
            ],
        ),
        (
            "steps: [Transforms]",
            ["2:11: no step or group named 'Transforms'. Did you mean 'transforms'?", "S"],
        ),
    ],
)
def test_names_that_cannot_be_used(files, registry, text, expected):
    counts = {"K": registered("kernel"), "T": registered("transform"), "S": registered("step")}
    counts["H"] = "  what each framework's discovery found: brainsmith health"
    counts["K2"] = counts["K"].replace("6", "2")
    counts["T4"] = counts["T"].replace("8", "4")
    lines = [counts.get(line, f"x.yaml:{line}") for line in expected]
    assert files.resolve_errors(text, registry) == lines
