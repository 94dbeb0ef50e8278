"""The main job: the shipped networks, through the shipped blueprints, to estimates."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.build import build
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from tests.test_docs import load

ROOT = Path(__file__).parents[2]
STEPS = ["cleanup", "integer", "hardware_inference", "specialize", "fold", "estimate"]


def arguments(name):
    return ROOT / f"examples/digits/{name}.onnx", ROOT / f"blueprints/digits_{name}.yaml"


@pytest.fixture(scope="module", params=["mlp", pytest.param("cnn", marks=pytest.mark.slow)])
def built(request, tmp_path_factory, cache_at):
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache_at(folder / "cache"))
        first = build(*arguments(request.param), folder / "first")
        second = build(*arguments(request.param), folder / "second")
    return request.param, first, second


@pytest.mark.slow
def test_every_prediction_is_the_same_before_and_after_every_step(built):
    name, first, _ = built
    assert [step.name for step in first.steps] == STEPS
    for step in first.steps:
        assert (step.verified.samples, step.verified.mismatches, step.verified.reason) == (360, 0, "")
    accuracy = first.report["accuracy"]
    known = json.loads((ROOT / "examples/digits/accuracy.json").read_text())[name]
    assert accuracy["samples"] == known["test_samples"]
    assert accuracy["before"] == accuracy["after"] == known["test_correct"] / known["test_samples"]
    unknown = [layer["op_type"] for layer in first.report["layers"] if layer["lut"] is None]
    assert set(unknown) <= {"Reshape_rtl"}
    assert [warning.partition(":")[0] for warning in first.report["warnings"]] == [
        "the estimate of LUTs is a lower bound"
    ] * bool(unknown)


@pytest.mark.slow
def test_layers_and_estimate(built):
    _, first, _ = built
    layers, estimate = first.report["layers"], first.report["estimate"]
    assert {layer["backend"] for layer in layers} == {"rtl"}
    assert max(layer["cycles"] for layer in layers) == estimate["interval_cycles"]
    assert estimate["fps"] == pytest.approx(200e6 / estimate["interval_cycles"])
    for key in ("lut", "bram18", "dsp"):
        # There is no model of some layers' LUTs: None.
        assert estimate["fifos"][key] + sum(layer[key] or 0 for layer in layers) == estimate[key]
    names = [node.get("layer") for node in first.report["graphs"]["after"]["nodes"]]
    in_graph = [layer["name"] for layer in layers if "WidthConverter" not in layer["op_type"]]
    assert in_graph == [name for name in names if name is not None]


@pytest.mark.slow
def test_the_second_build_reuses_all_and_gives_the_same(built):
    _, first, second = built
    assert [step.name for step in second.steps if not step.reused] == [], second.explanations
    assert [step.verified for step in second.steps] == [step.verified for step in first.steps]
    for key in ("layers", "estimate", "accuracy", "graphs", "model"):
        assert second.report[key] == first.report[key]
    for file in ("model.onnx", "report/estimates.json"):
        assert (second.output / file).read_bytes() == (first.output / file).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cnn", "residual"])
def test_a_whole_network_becomes_a_circuit_that_gives_every_label(name, tmp_path):
    model = ROOT / f"examples/digits/{name}.onnx"
    result = build(model, ROOT / f"blueprints/digits_{name}_rtl.yaml", tmp_path / "out")
    circuit, known = (
        result.report["rtl"],
        json.loads((ROOT / "examples/digits/accuracy.json").read_text())[name],
    )
    assert {layer["backend"] for layer in result.report["layers"]} == {"rtl"}
    assert (circuit["frames"], circuit["mismatches"]) == (360, 0)
    page = (tmp_path / "out" / "accelerator" / "README.md").read_text()
    assert "\n\n## Proof\n\n**Verified" in page
    assert (circuit["stalled_frames"], circuit["stalled_mismatches"]) == (1080, 0)
    assert circuit["interval_cycles"] == circuit["interval_estimate"]
    assert [(one["target"], one["agrees"], one["worst"]) for one in result.report["targets"]["results"]] == [
        ("numpy", True, 0),
        ("onnxruntime", True, 0),
        ("rtlsim", True, 0),
    ]
    assert circuit["accuracy"] == known["test_correct"] / known["test_samples"]
    assert (tmp_path / "out" / "accelerator" / "README.md").is_file()
    assert result.report["files"] == [
        "accelerator/",
        "model.onnx",
        "checkpoints/",
        "build.log",
        "report.json",
    ]
    assert circuit["wave"]["file"] == "report/wave.svg"
    drawn = load("docs/pictures/draw.py").circuit_pictures(tmp_path / "out") if name == "residual" else {}
    for file, content in drawn.items():
        assert content.rstrip() == (ROOT / "docs" / "pictures" / file).read_text().rstrip()
    picture = (tmp_path / "out" / "report" / "wave.svg").read_bytes()
    assert base64.b64encode(picture).decode() in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_the_build_steps_of_the_requirements(tmp_path):
    build_steps = [
        steps.cleanup,
        lambda m, cfg: m.transform(tfm.ExpandNorms()),
        steps.qonnx_to_finn,
        lambda m, cfg: m.transform(tfm.finn.Streamline()),
        steps.hardware_inference,
    ]
    model, blueprint = arguments("mlp")
    result = build(model, blueprint, tmp_path / "out", steps=build_steps)
    assert [step.verified.samples for step in result.steps] == [360] * 5
    loaded = {plugin["name"] for plugin in result.report["plugins"] if plugin["loaded"]}
    assert {"cleanup", "ExpandNorms", "qonnx_to_finn", "Streamline", "hardware_inference"} <= loaded


@pytest.mark.slow
def test_the_report_proves_what_was_loaded(tmp_path):
    code = """
import json, sys
from brainsmith.build import build
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from tests.test_docs import load
result = build(*sys.argv[1:4], verify=False, use_cache=False)
print(json.dumps(sorted(set(sys.modules))))
"""
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments("mlp")), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = set(json.loads(done.stdout.splitlines()[-1]))
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert set(report["modules"]) <= imported
    loaded = [plugin for plugin in report["plugins"] if plugin["loaded"]]
    assert {plugin["reference"].partition(":")[0] for plugin in loaded} <= set(report["modules"])
    assert {plugin["name"] for plugin in loaded if plugin["type"] == "step"} == set(STEPS)
    for unneeded in ("pandas", "sklearn", "matplotlib", "torch", "finn.builder.build_dataflow_steps"):
        assert unneeded not in imported
