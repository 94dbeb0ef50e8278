import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.base import Transformation
from qonnx.transformation.general import GiveUniqueNodeNames
from qonnx.transformation.infer_shapes import InferShapes

import brainsmith.build
from brainsmith.build import build
from brainsmith.build.graphs import graph_data
from brainsmith.errors import BuildError, ModelError, OutputError, UnverifiedStepError, VerificationError
from tests.build import graphs


def same(model, cfg):
    return model


def named(model, cfg):
    return model.transform(GiveUniqueNodeNames())


def flip(model, cfg):
    weights = model.get_initializer("w0").copy()
    weights[0, 0] += 0.25
    model.set_initializer("w0", weights)
    return model


def swap(model, cfg):
    weights = model.get_initializer("w0")
    model.set_initializer("w0", np.ascontiguousarray(weights[:, [1, 0, *range(2, weights.shape[1])]]))
    return model


def fail(model, cfg):
    node = model.graph.node[0]
    raise ValueError(f"cannot fold {node.op_type}")


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


def golden():
    model = graphs.quant_mlp()
    data = graphs.samples(model, 60)
    return {"verify_inputs": data, "verify_labels": np.arange(60) % 3}


def test_a_build_from_python(tmp_path):
    result = build(
        graphs.quant_mlp(), output=tmp_path / "out", steps=[named, InferShapes(), same], **golden()
    )
    assert tree(tmp_path / "out") == [
        ".build.json",
        "checkpoints/00_inputs.npy",
        "checkpoints/01_named.onnx",
        "checkpoints/02_InferShapes.onnx",
        "checkpoints/03_same.onnx",
        "model.onnx",
        "provenance.json",
        "report.html",
        "report.json",
    ]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report == result.report
    assert report["schema"] == "brainsmith.report/1"
    assert [step["name"] for step in report["steps"]] == ["named", "InferShapes", "same"]
    assert [step["framework"] for step in report["steps"]] == ["callable", "callable", "callable"]
    assert all(step["verified"]["samples"] == 60 for step in report["steps"])
    assert all(step["verified"]["mismatches"] == 0 for step in report["steps"])
    accuracy = report["accuracy"]
    assert accuracy["samples"] == 60
    assert accuracy["before"] == accuracy["after"] > 0
    assert (report["layers"], report["estimate"], report["warnings"]) == ([], None, [])
    assert [node["op_type"] for node in report["graphs"]["before"]["nodes"]][:2] == ["Input", "Quant"]
    assert ModelWrapper(str(result.model)).graph.node[0].name == "Quant_0"


def test_a_second_build_reuses_every_step(tmp_path):
    words = {"steps": [named, same], "report": False, **golden()}
    first = build(graphs.quant_mlp(), output=tmp_path / "a", **words)
    second = build(graphs.quant_mlp(), output=tmp_path / "b", **words)
    assert [step.reused for step in first.steps] == [False, False]
    assert [step.reused for step in second.steps] == [True, True]
    assert [step.original_seconds for step in first.steps] == [step.seconds for step in first.steps]
    for ran, taken in zip(first.steps, second.steps, strict=True):
        assert 0 < taken.original_seconds <= ran.seconds  # storing the result is not part of it
    assert (tmp_path / "a" / "model.onnx").read_bytes() == (tmp_path / "b" / "model.onnx").read_bytes()
    third = build(graphs.quant_mlp(seed=3), output=tmp_path / "b", **words)
    for step in third.steps:
        assert not step.reused
        assert step.cache.startswith("the model before it is another one")
    fresh = build(graphs.quant_mlp(), output=tmp_path / "c", use_cache=False, **words)
    assert [step.reused for step in fresh.steps] == [False, False]


def test_a_report_of_a_step_that_cannot_be_read_ends_the_build(tmp_path):
    def damage(model, cfg):
        (cfg.get_report_directory() / "estimates.json").write_text('{"layers": [')
        return model

    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[damage], verify=False)
    failed = tmp_path / "out" / "failed"
    assert str(caught.value).splitlines() == [
        f"{failed}/report/estimates.json cannot be read as the report of a step: Expecting value: line 1 column 13 "
        "(char 12)",
        "  run the step that writes it again, and let no other step write this file",
        "  steps before it: damage",
        f"  last good model: {failed}/checkpoints/01_damage.onnx",
        f"  report: {failed}/report.html",
    ]
    report = json.loads((failed / "report.json").read_text())
    assert report["error"]["message"] == str(caught.value).rpartition("\n  report: ")[0]
    assert [step["name"] for step in report["steps"]] == ["damage"]
    assert (report["layers"], report["estimate"]) == ([], None)


@pytest.mark.parametrize(("change", "name"), [(flip, "flip"), (swap, "swap")])
def test_a_step_that_changes_the_function_is_named(tmp_path, change, name):
    with pytest.raises(VerificationError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[named, change, same], **golden())
    first, *rest = str(caught.value).splitlines()
    assert first.startswith(f"step '{name}' changed what the model computes: ")
    assert "at tensor 'm1'" in first
    assert rest == [
        "  steps before it: named",
        f"  last good model: {tmp_path}/out/failed/checkpoints/01_named.onnx",
        "  the outputs are exact (whole numbers, also times a power of two), so this is not a rounding error, unless "
        "rounding before a quantiser moved a value to its next level "
        f"(scales that are powers of two avoid it); if '{name}' approximates, state it: "
        f"`verify: {{approximate: {{{name}: {{error: ERROR, classes: SAMPLES}}}}}}`",
        f"  report: {tmp_path}/out/failed/report.html",
    ]
    assert tree(tmp_path / "out") == [
        ".build.json",
        "failed/checkpoints/00_inputs.npy",
        "failed/checkpoints/01_named.onnx",
        f"failed/checkpoints/02_{name}.onnx",
        "failed/report.html",
        "failed/report.json",
    ]
    report = json.loads((tmp_path / "out" / "failed" / "report.json").read_text())
    assert report["error"] == {"step": name, "message": str(caught.value).rpartition("\n  report: ")[0]}
    assert [step["name"] for step in report["steps"]] == ["named", name]
    page = (tmp_path / "out" / "failed" / "report.html").read_text()
    assert "Build failed" in page
    assert f"step &#x27;{name}&#x27; changed what" in page
    assert "the last good model" in page
    good = ModelWrapper(str(tmp_path / "out" / "failed" / "checkpoints" / "01_named.onnx"))
    assert report["graphs"]["after"] == json.loads(json.dumps(graph_data(good)))


def test_a_failing_step_leaves_the_earlier_build_whole(tmp_path):
    build(graphs.quant_mlp(), output=tmp_path, steps=[named], verify=False, report=False)
    before = {name: (tmp_path / name).read_bytes() for name in tree(tmp_path) if not name.startswith(".")}
    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), output=tmp_path, steps=[named, same, fail], report=False, **golden())
    assert str(caught.value).splitlines() == [
        "step 'fail' failed at node 'Quant_0' (Quant): ValueError: cannot fold Quant "
        f"({__file__}:{fail.__code__.co_firstlineno + 2})",
        f"  what the steps said, and where one failed: {tmp_path}/failed/build.log",
        "  steps before it: named, same",
        f"  last good model: {tmp_path}/failed/checkpoints/02_same.onnx",
    ]
    assert isinstance(caught.value.__cause__, ValueError)
    log = (tmp_path / "failed" / "build.log").read_text()
    assert log.startswith("== fail failed\nTraceback (most recent call last):\n")
    assert log.endswith("ValueError: cannot fold Quant\n")
    assert f'File "{__file__}"' in log
    assert ModelWrapper(f"{tmp_path}/failed/checkpoints/02_same.onnx").graph.node[0].name == "Quant_0"
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    build(graphs.quant_mlp(), output=tmp_path, steps=[named], verify=False, report=False)
    assert not (tmp_path / "failed").exists()


@pytest.mark.slow
def test_the_first_step_fails(tmp_path):
    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[fail], verify=False)
    assert str(caught.value).splitlines()[-2:] == [
        "  it was the first step; the last good model is the input model",
        f"  report: {tmp_path}/out/failed/report.html",
    ]
    assert (tmp_path / "out" / "failed" / "report.html").is_file()


def test_lambdas_are_named_by_their_place(tmp_path):
    line = sys._getframe().f_lineno + 1
    steps = [lambda m, cfg: m.transform(GiveUniqueNodeNames()), lambda m, cfg: m]
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=steps, verify=False, report=False)
    assert [step.name for step in result.steps] == [f"lambda at {Path(__file__).name}:{line}"] * 2
    assert tree(tmp_path / "out" / "checkpoints") == [
        f"01_lambda_at_{Path(__file__).name}_{line}.onnx",
        f"02_lambda_at_{Path(__file__).name}_{line}.onnx",
    ]


def test_without_golden_data_eight_random_inputs_and_a_warning(tmp_path):
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=[named], report=False)
    assert result.steps[0].verified.samples == 8
    assert result.warnings == (
        "no golden inputs: verified with 8 random inputs (seed 0), which says little about real data. Add "
        "`verify: {inputs: x.npy, labels: y.npy}` to the blueprint, or --verify-inputs x.npy.",
    )


UNKNOWN = (
    "its shapes cannot be inferred: [TypeInferenceError] Cannot infer type and shape for node name odd. No opset import "
    "for domain no.such optype NoSuchOp"
)


def odd(model, cfg):
    model.graph.node.append(helper.make_node("NoSuchOp", ["m1"], ["odd"], name="odd", domain="no.such"))
    model.graph.output[0].name = "odd"
    return model


def test_pitfall_26_a_step_that_cannot_be_verified_ends_the_build(tmp_path):
    with pytest.raises(UnverifiedStepError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[named, odd], report=False, **golden())
    lines = str(caught.value).splitlines()
    assert lines[0] == f"step 'odd' cannot be verified: {UNKNOWN}"
    assert lines[1:] == [
        "  if it is meant to change the outputs, state the new ones, with which it is then checked: "
        "`verify: {changes_outputs: {odd: {labels: Y.npy, expected: Z.npy}}}`, one of them or both",
        "  if it cannot be checked at all, say so: `verify: {unverified: [odd]}`; the build then warns of it, "
        "and fails with --strict",
        "  steps before it: named",
        f"  last good model: {tmp_path}/out/failed/checkpoints/01_named.onnx",
    ]


def test_without_golden_inputs_a_step_that_cannot_be_verified_is_a_warning_with_its_reason(tmp_path):
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=[named, odd])
    random, step = result.shortfalls
    assert (random.kind, random.text[:32]) == ("golden", "no golden inputs: verified with ")
    assert (step.kind, step.text) == ("step", f"step 'odd' was not verified: {UNKNOWN}")
    assert result.warnings[:2] == tuple(shortfall.text for shortfall in result.shortfalls)
    assert result.report["steps"][1]["verified"]["samples"] == 0
    assert result.report["steps"][1]["verified"]["reason"]
    assert not result.proven


def test_an_input_model_that_cannot_be_executed(tmp_path):
    model = odd(graphs.quant_mlp(), None)
    problem = f"the input model cannot be executed: {UNKNOWN}"
    with pytest.raises(BuildError) as caught:
        build(model, output=tmp_path / "out", steps=[same], **golden())
    assert str(caught.value) == (
        f"{problem}\n  so no step can be verified with the golden inputs: correct the model, or build it without "
        "verification: --no-verify (verify=False)"
    )
    assert not (tmp_path / "out").exists()
    result = build(model, output=tmp_path / "out", steps=[same], report=False)
    assert result.warnings[0] == f"nothing was verified: {problem}"
    assert result.report["steps"][0]["verified"] is None
    assert (result.accuracy, result.proven) == (None, False)


def test_expected_outputs_that_are_not_the_models(tmp_path):
    data = golden()["verify_inputs"]
    with pytest.raises(
        VerificationError, match=r"^the input model does not compute the expected outputs, before "
    ):
        build(
            graphs.quant_mlp(),
            output=tmp_path / "out",
            steps=[same],
            verify_inputs=data,
            verify_expected=np.full((60, 3), 9.0),
        )
    assert not (tmp_path / "out").exists()


def test_progress_and_summary(tmp_path):
    lines = []
    steps = [named, same]
    result = build(
        graphs.quant_mlp(),
        output=tmp_path / "out",
        steps=steps,
        progress=lambda e: lines.append(str(e)),
        explain=True,
        **golden(),
    )
    assert lines[0].startswith("input model: 60 samples, accuracy ")
    assert lines[1] == "[1/2] named"
    assert lines[2].startswith("[1/2] named  ")
    assert lines[2].endswith(" s  verified 60 samples  (it was not built before)")
    summary = result.summary().splitlines()
    assert summary[0].startswith("steps      2 in ")
    assert summary[1].startswith("accuracy   ")
    assert summary[2] == "targets    numpy, onnxruntime agree with reference (8 samples)"
    assert summary[3] == "proven     yes"
    assert summary[4:] == [
        f"output     {tmp_path / 'out'}",
        f"report     {tmp_path / 'out' / 'report.html'}",
    ]


@pytest.mark.slow
def test_verification_and_report_off(tmp_path):
    result = build(graphs.quant_mlp(), output=tmp_path / "out", steps=[same], verify=False, report=False)
    assert result.report["steps"][0]["verified"] is None
    assert tree(tmp_path / "out") == [
        ".build.json",
        "checkpoints/01_same.onnx",
        "model.onnx",
        "provenance.json",
        "report.json",
    ]


@pytest.mark.parametrize("verify", [True, False])
def test_golden_inputs_that_are_not_the_models_end_the_build_before_the_first_step(tmp_path, verify):
    model, data = graphs.quant_mlp(), np.full((4, 6), 7.0)
    model.set_tensor_datatype("x", DataType["UINT5"])
    data[1, 2] = -3.7
    np.save(tmp_path / "x.npy", data)
    with pytest.raises(BuildError) as caught:
        build(model, output=tmp_path / "out", steps=[fail], verify_inputs=tmp_path / "x.npy", verify=verify)
    assert str(caught.value) == (
        f"{tmp_path}/x.npy: input 'x' must hold values of its datatype UINT5, whole numbers from 0 to 31, "
        "not -3.7 at [1, 2]"
    )
    assert not (tmp_path / "out").exists()


def test_bad_input_leaves_nothing(tmp_path):
    for model, error in ((graphs.float_mlp(), ModelError), (tmp_path / "no.onnx", ModelError)):
        with pytest.raises(error):
            build(model, output=tmp_path / "out", steps=[same])
        assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        build(graphs.quant_mlp(), output=tmp_path / "file", steps=[same])
    with pytest.raises(
        BuildError, match=r"^steps\[1\] must be a function \(model, cfg\) -> model, the name of a step, or a"
    ):
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[same, 3])
    assert not (tmp_path / "out").exists()


def test_ctrl_c_leaves_nothing_but_the_cache(tmp_path):
    def interrupted(model, cfg):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[named, interrupted], verify=False)
    assert str(caught.value) == (
        f"build interrupted after 1 of 2 steps; {tmp_path / 'out'} is as it was; "
        "the steps done are in the build cache"
    )
    assert not (tmp_path / "out").exists()
    again = build(
        graphs.quant_mlp(), output=tmp_path / "out", steps=[named, same], verify=False, report=False
    )
    assert again.steps[0].reused


@pytest.mark.slow
def test_two_builds_in_two_threads(tmp_path):
    results, problems = {}, []

    def work(seed):
        try:
            model = graphs.quant_mlp(seed=seed)
            results[seed] = build(
                model, output=tmp_path / f"out{seed}", steps=[named, InferShapes()], report=False
            )
        except BaseException as error:  # noqa: BLE001 - a thread hides what it raises
            problems.append(error)

    folder = Path.cwd()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert Path.cwd() == folder
    for seed, result in results.items():
        expected = graphs.quant_mlp(seed=seed).get_initializer("w0")
        np.testing.assert_array_equal(ModelWrapper(str(result.model)).get_initializer("w0"), expected)


def test_the_package_is_light():
    code = "import sys, brainsmith.build; print([m for m in ('numpy', 'onnx', 'yaml') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout == "[]\n"
    assert sorted(brainsmith.build.__all__) == ["BuildResult", "build"]


@pytest.mark.slow
def test_progress_that_nobody_reads_any_more_is_no_fault_of_the_output_folder(tmp_path):
    def gone(event):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[same], progress=gone, verify=False)
    assert not (tmp_path / "out").exists()


def test_a_build_where_the_current_folder_is_gone(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    try:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[same], use_cache=False, verify=False)
    finally:
        monkeypatch.chdir(tmp_path)
    assert (tmp_path / "out" / "model.onnx").is_file()


@pytest.mark.parametrize("returned", [None, 3, (), (None, False)])
def test_a_transform_that_does_not_return_what_it_must(tmp_path, returned):
    class Wrong(Transformation):
        def apply(self, model):
            return returned

    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[Wrong()], verify=False)
    found = {(None, False): "(NoneType, bool)"}.get(returned, type(returned).__name__)
    assert str(caught.value).startswith(
        f"step 'Wrong' failed: apply() must return (model, graph_modified), not {found}; "
        "graph_modified says whether it must be applied again\n"
    )
