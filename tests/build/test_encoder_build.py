"""The encoder, from QONNX to a simulated circuit: attention, normalisation and residual sums in RTL."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.build import build

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples/encoder/encoder.onnx"
BLUEPRINT = ROOT / "blueprints/encoder_rtl.yaml"
FRAMES = 40
KINDS = {
    "DuplicateStreams_rtl": 2, "ElementwiseAddInt_rtl": 2, "GlobalAccPool_rtl": 1, "LayerNormRTL": 2,
    "MVAU_rtl": 8, "MatMulRTL": 2, "Reshape_rtl": 4, "ShuffleRTL": 4, "SoftmaxRTL": 1,
    "StreamingDataWidthConverterAny_rtl": 6, "Thresholding_rtl": 12,
}  # fmt: skip


def count(layers):
    kinds = [layer["op_type"] for layer in layers]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


@pytest.fixture(scope="module")
def built(tmp_path_factory, cache_at):
    """Build with every ninth held-out image; the blueprint itself takes all 360."""
    folder = tmp_path_factory.mktemp("encoder")
    blueprint = load_blueprint(BLUEPRINT)
    verify, chosen = blueprint.verify, slice(None, None, 360 // FRAMES)
    files = {}
    for key in ("inputs", "labels", "float_outputs"):
        files[key] = str(folder / f"{key}.npy")
        np.save(files[key], np.load(getattr(verify, key))[chosen])
    fewer = replace(blueprint, verify=replace(verify, **files))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache_at(folder / "cache"))
        return build(MODEL, fewer, folder / "out").report


@pytest.mark.slow
def test_every_layer_is_rtl_of_integers(built):
    assert count(built["layers"]) == KINDS
    after = built["graphs"]["after"]["nodes"]
    assert all(node["datatype"].startswith(("INT", "UINT")) for node in after if node.get("layer"))


@pytest.mark.slow
def test_the_approximation_enters_where_the_blueprint_says_and_nowhere_else(built):
    verified = {step["name"]: step["verified"] for step in built["steps"]}
    front = ("cleanup", "integer")
    assert all(verified[name]["max_error"] == 0 for name in front)
    assert verified["hardware_inference"]["samples"] == FRAMES
    stated = load_blueprint(BLUEPRINT).verify.approximate["hardware_inference"]
    assert verified["hardware_inference"]["changed"] <= stated.classes
    assert 0 < verified["hardware_inference"]["max_error"] <= stated.error
    for name in verified.keys() - {*front, "hardware_inference"}:
        assert (verified[name]["max_error"], verified[name]["reference"]) == (0, "hardware_inference")


@pytest.mark.slow
def test_accuracy_and_the_distance_from_the_float_model_are_in_the_report(built):
    known = json.loads((ROOT / "examples/encoder/accuracy.json").read_text())
    assert built["accuracy"]["after"] > 0.9
    distance = built["float_model"]
    assert distance["samples"] == FRAMES
    for at in ("before", "after"):
        assert distance[at]["agreement"] > 0.9
        assert 0 < distance[at]["mean_error"] < distance[at]["max_error"]
        assert distance[at]["mean_error"] < 1.5 * known["float_mean_error"]


@pytest.mark.slow
def test_the_circuit_gives_the_same_bits_at_the_estimated_rate(built):
    circuit = built["rtl"]
    assert (circuit["frames"], circuit["mismatches"]) == (FRAMES, 0)
    assert circuit["stalled_frames"] > 0
    assert circuit["stalled_mismatches"] == 0
    assert circuit["interval_cycles"] == circuit["interval_estimate"] == 2048
    assert circuit["accuracy"] == built["accuracy"]["after"]
