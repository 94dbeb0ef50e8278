import numpy as np
import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.resolve import check_blueprint, missing_files, resolve_blueprint
from brainsmith.blueprint.schema import DEFAULT_STEPS, Blueprint
from brainsmith.errors import BlueprintError
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.registry import Registry


def kernels(selection):
    return [use.record.qualified for use in selection.kernels]


def transforms(selection):
    return [use.record.qualified for use in selection.transforms]


def backends(selection):
    return [record.name for record in selection.kernels[0].backends]


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


ORIGINAL = """hw_compiler:
  kernels: [MatMul, {kernel: Softmax, backends: [hls]}]
  transforms: [norms, ~folding]
  transforms_phased: {pre_hw: [ExpandNorms], post_hw: [MergeChains]}
"""


def test_a_whole_blueprint(files, registry):
    selection = resolve_blueprint(files.load(ORIGINAL), registry)
    assert [use.name for use in selection.steps] == list(DEFAULT_STEPS)
    assert [use.kind for use in selection.steps[:4]] == ["step", "phase", "phase", "step"]
    assert [use.record.name for use in selection.phase("pre_hw")] == ["ExpandNorms"]
    assert [use.record.name for use in selection.phase("post_hw")] == ["MergeChains"]
    assert [record.qualified for record in selection.records] == [
        "brainsmith:MatMul",
        "brainsmith:MatMulFastRTL",
        "acme-norms:AcmeMatMul",
        "brainsmith:MatMulHLS",
        "brainsmith:MatMulRTL",
        "brainsmith:Softmax",
        "brainsmith:SoftmaxHLS",
        "brainsmith:ExpandNorms",
        "finn:Streamline",
        "brainsmith:MergeChains",
        *(f"brainsmith:{name}" for name in DEFAULT_STEPS if name not in ("pre_hw", "transforms", "post_hw")),
    ]
    assert [text.partition(": ")[2] for text in selection.skipped] == [
        "optional transform 'folding' is left out: no transform or group named 'folding'."
    ]


@pytest.mark.parametrize(
    ("written", "expected", "types"),
    [
        ("- MatMul", ["MatMulFastRTL", "AcmeMatMul", "MatMulHLS", "MatMulRTL"], ("rtl", "hls")),
        ("- MatMul: hls", ["AcmeMatMul", "MatMulHLS"], ("hls",)),
        ("- MatMul: [hls, rtl]", ["AcmeMatMul", "MatMulHLS", "MatMulFastRTL", "MatMulRTL"], ("hls", "rtl")),
        ("- MatMul: [MatMulRTL, HLS]", ["MatMulRTL", "AcmeMatMul", "MatMulHLS"], ("rtl", "hls")),
        ("- MatMul: matmulhls", ["MatMulHLS"], ("hls",)),
        ("- MatMul: acme-norms:AcmeMatMul", ["AcmeMatMul"], ("hls",)),
        ("- MatMul: [MatMulHLS, ~MatMulASIC]", ["MatMulHLS"], ("hls",)),
        ("- Softmax: [rtl, hls]", ["SoftmaxHLS"], ("hls",)),
        ("- LayerNorm", ["LayerNormHLS"], ("hls",)),
        ("- finn:LayerNorm", ["LayerNorm_hls"], ("hls",)),
        ("- Bare", [], ()),
    ],
)
def test_backends_come_in_order_of_preference(files, registry, written, expected, types):
    selection = files.resolve(f"kernels:\n{written}", registry)
    assert backends(selection) == expected
    assert selection.kernels[0].backend_types == types


def test_a_preferred_type_that_no_backend_has_is_reported(files, registry):
    (skipped,) = files.resolve("kernels:\n- Softmax: [rtl, hls]", registry).skipped
    assert skipped.endswith(
        "x.yaml:3:15: kernel 'brainsmith:Softmax' has no rtl backend. It has SoftmaxHLS (hls)."
    )


COUNT = {"kernel": 6, "transform": 8, "step": 10}


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
            "kernels:\n- Softmax: MatMulHLS",
            [
                "3:14: backend 'brainsmith:MatMulHLS' implements 'brainsmith:MatMul', "
                "not 'brainsmith:Softmax'. It has SoftmaxHLS (hls)."
            ],
        ),
        (
            # Another framework's backend, of a kernel with the same name.
            "kernels:\n- LayerNorm: LayerNorm_hls",
            [
                "3:16: backend 'finn:LayerNorm_hls' implements 'finn:LayerNorm', "
                "not 'brainsmith:LayerNorm'. It has LayerNormHLS (hls)."
            ],
        ),
        (
            # A backend whose name ends in this kernel's backend's name.
            "kernels:\n- MatMul: FancyMatMul_hls",
            [
                "3:13: backend 'acme-norms:FancyMatMul_hls' implements 'acme-norms:FancyMatMul', "
                "not 'brainsmith:MatMul'. It has MatMulFastRTL (rtl), AcmeMatMul (hls), MatMulHLS (hls), "
                "MatMulRTL (rtl)."
            ],
        ),
        (
            "kernels:\n- Softmax: Softmax_hls",
            [
                "3:14: kernel 'brainsmith:Softmax' has no backend 'Softmax_hls'. Did you mean 'SoftmaxHLS'? "
                "It has SoftmaxHLS (hls)."
            ],
        ),
        ("kernels:\n- Bare: hls", ["3:11: kernel 'brainsmith:Bare' has no hls backend. It has none."]),
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
            "steps: [Softmax_step]",
            "2:11: step 'Softmax_step' needs rate: write {step: Softmax_step, args: {rate: ...}}",
        ),
        (
            "steps: [cleanup]\nverify: {tolerance: {cleanupp: 1, '*': 0}}",
            "3:24: verify.tolerance names 'cleanupp', which is no step of this build. "
            "Did you mean 'cleanup'?",
        ),
        (
            "steps: [step_tidy_up, transforms]\nverify: {tolerance: {transforms: 1}}\n"
            "transforms: [ExpandNorms]",
            "3:24: verify.tolerance names 'transforms', which is no step of this build. "
            "Its steps are finn:step_tidy_up, ExpandNorms.",
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


def test_types_are_separate_namespaces(files, registry):
    text = "steps: [ExpandNorms, {transform: ExpandNorms}, ~nothing, transforms]\ntransforms: [ExpandNorms]"
    selection = files.resolve(text, registry)
    assert [(use.name, use.kind) for use in selection.steps] == [
        ("ExpandNorms", "step"),
        ("ExpandNorms", "transform"),
        ("transforms", "phase"),
    ]
    assert selection.steps[0].record.type == "step"
    assert selection.transforms[0].record.type == "transform"


def test_finns_steps_show_whose_they_are(files, registry):
    text = "steps: [step_tidy_up]\nverify: {tolerance: {'finn:step_tidy_up': 0.1}}"
    assert [use.name for use in files.resolve(text, registry).steps] == ["finn:step_tidy_up"]


def test_an_unreadable_source_is_said_not_hidden(files):
    registry = Registry()
    info = PluginInfo(name="Loose", type="transform", framework="project", reference="shell:Loose", stage="x")
    registry.register(info)
    registry.register(PluginInfo(name="go", type="step", framework="project", reference="shell:go"))
    selection = files.resolve("transforms: [Loose]\nsteps: [transforms, go]", registry)
    assert transforms(selection) == ["project:Loose"]
    unread = "are not checked: {} 'project:{}': its source 'shell' is not there"
    assert [text.partition(": ")[2] for text in selection.skipped] == [
        "the arguments of 'Loose' " + unread.format("transform", "Loose"),
        "the arguments of 'go' " + unread.format("step", "go"),
    ]


def test_wrong_forms_wrong_names_and_missing_files_come_together(files, registry):
    path = files.write(
        "hw_compiler:\n"
        "  kernels: [Softmx]\n"
        "  target: {fps: 0}\n"
        "  verify: {inputs: none.npy}\n"
        "  colour: red\n"
    )
    with pytest.raises(BlueprintError) as caught:
        check_blueprint(path, registry)
    assert [(p.line, p.column) for p in caught.value.problems] == [(2, 13), (3, 17), (4, 12), (5, 3)]
    assert caught.value.problems[2].text == (
        f"verify.inputs names a file that is not there: {files.folder}/none.npy"
    )
    with pytest.raises(BlueprintError) as caught:
        check_blueprint(path, registry, files=False)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 5]


def test_a_file_that_cannot_be_read_is_the_only_problem(files, registry):
    with pytest.raises(BlueprintError) as caught:
        check_blueprint(str(files.folder / "x.yaml"), registry)
    assert len(caught.value.problems) == 1


def test_golden_data_that_are_there_are_no_problem(files, registry):
    np.save(files.folder / "x.npy", np.zeros(3))
    path = files.write("hw_compiler: {verify: {inputs: x.npy}}")
    blueprint, selection = check_blueprint(path, registry)
    assert missing_files(blueprint) == []
    assert len(selection.steps) == len(DEFAULT_STEPS)


def test_a_build_without_a_blueprint_has_the_default_steps(registry):
    selection = resolve_blueprint(Blueprint("(none)"), registry)
    assert [use.name for use in selection.steps] == list(DEFAULT_STEPS)


def test_a_default_step_that_is_missing_is_a_problem_of_the_file(files):
    with pytest.raises(BlueprintError) as caught:
        resolve_blueprint(load_blueprint(files.write("hw_compiler: {}")), Registry())
    first = caught.value.problems[0]
    assert (first.line, first.text.splitlines()[0]) == (0, "no step named 'cleanup'.")
