import numpy as np
import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.resolve import check_blueprint, missing_files, resolve_blueprint
from brainsmith.blueprint.schema import DEFAULT_STEPS, Blueprint, KernelEntry, PluginName, Verify
from brainsmith.errors import BlueprintError
from brainsmith.plugin.plugin_registry import Registry

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
        "brainsmith:MatMulRTL",
        "acme-norms:AcmeMatMul",
        "brainsmith:MatMulHLS",
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


def test_wrong_forms_wrong_names_and_missing_files_come_together(files, registry):
    path = files.write(
        "hw_compiler:\n  kernels: [Softmx]\n  target: {fps: 0}\n  verify: {inputs: none.npy}\n  colour: red\n"
    )
    with pytest.raises(BlueprintError) as caught:
        check_blueprint(path, registry)
    assert [(p.line, p.column) for p in caught.value.problems] == [(2, 13), (3, 17), (4, 12), (5, 3)]
    assert caught.value.problems[2].text == (
        f"verify.inputs names a file that does not exist: {files.folder}/none.npy"
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


def test_a_blueprint_made_in_python_has_no_places(registry):
    verify = Verify(inputs="/none.npy", tolerance={"gone": 1.0})
    blueprint = Blueprint("(mine)", kernels=(KernelEntry(PluginName("Softmx")),), steps=(), verify=verify)
    with pytest.raises(BlueprintError) as caught:
        resolve_blueprint(blueprint, registry)
    assert str(caught.value).splitlines() == [
        "(no file): no kernel or group named 'Softmx'. Did you mean 'Softmax'?",
        "  6 are registered: brainsmith plugins list --type kernel",
        "(no file): verify.tolerance names 'gone', which is not a step of this build. It has none.",
    ]
    assert [str(problem) for problem in missing_files(blueprint)] == [
        "(no file): verify.inputs names a file that does not exist: /none.npy"
    ]
