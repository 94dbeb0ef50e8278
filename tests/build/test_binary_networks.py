"""1-bit networks from QONNX to circuits: FINN's TFC and CNV, with random weights."""

import json
from pathlib import Path

import numpy as np
import pytest

from brainsmith.build import build
from tests.build.binary_graphs import cnv, tfc

TFC_BLUEPRINT = Path(__file__).parents[2] / "blueprints" / "tfc_w1a1_rtl.yaml"

CNV_BLUEPRINT = """\
hw_compiler:
  target: {{part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: {fps}}}
  kernels:
    - {{kernel: Thresholding, backends: [rtl]}}
    - {{kernel: ConvolutionInputGenerator, backends: [rtl]}}
    - {{kernel: MVAU, backends: [rtl]}}
    - {{kernel: Pool, backends: [rtl]}}
    - {{kernel: LabelSelect, backends: [rtl]}}
  steps:
    - cleanup
    - integer
    - hardware_inference
    - specialize
    - fold
    - estimate
{circuit}
  output: {output}
"""

CIRCUIT = """\
    - rtl_codegen
    - rtl_stitch
    - {step: rtl_size_fifos, args: {search: false}}
    - {step: rtl_simulate, args: {seeds: 1, frames: 3}}"""


def pixels(count, *shape):
    return np.random.default_rng(5).integers(0, 256, (count, *shape)).astype(np.float32)


def kinds(result):
    """Return the operators of the layers, in order, but for converters between them."""
    layers = json.loads((result.output / "report/estimates.json").read_text())["layers"]
    names = [layer["op_type"].removesuffix("_rtl") for layer in layers]
    return [name for name in names if not name.startswith("StreamingDataWidthConverter")]


def assert_exact(result, frames):
    """Assert that all steps and the circuit compute what the model computes, and that it runs at the estimate."""
    assert [step.verified.mismatches for step in result.steps] == [0] * len(result.steps)
    found = json.loads((result.output / "report/rtl_simulation.json").read_text())
    assert (found["frames"], found["mismatches"], found["stalled_mismatches"]) == (frames, 0, 0)
    assert found["interval_cycles"] == found["interval_estimate"]
    assert found["stalled_frames"] >= frames


@pytest.mark.slow
def test_a_narrow_tfc_becomes_a_circuit(tmp_path):
    model = tfc(tmp_path / "tfc.onnx", (16, 8, 10))
    result = build(model, TFC_BLUEPRINT, tmp_path / "out", verify_inputs=pixels(6, 16))
    hidden = ["BinaryMVAU", "Thresholding"]
    assert kinds(result) == ["Thresholding", *hidden, "BinaryMVAU", "LabelSelect"]
    assert_exact(result, 6)


@pytest.mark.slow
def test_tfc_becomes_a_circuit(tmp_path):
    result = build(tfc(tmp_path / "tfc.onnx"), TFC_BLUEPRINT, tmp_path / "out", verify_inputs=pixels(4, 784))
    assert kinds(result).count("BinaryMVAU") == 4
    assert_exact(result, 4)


@pytest.mark.slow
def test_a_narrow_cnv_becomes_a_circuit(tmp_path):
    blueprint = tmp_path / "cnv.yaml"
    blueprint.write_text(CNV_BLUEPRINT.format(fps=60_000, output="simulated", circuit=CIRCUIT))
    model = cnv(tmp_path / "cnv.onnx", channels=(4, 8, 8), dense=(16, 16))
    result = build(model, blueprint, tmp_path / "out", verify_inputs=pixels(3, 3, 32, 32))
    found = kinds(result)
    assert [found.count(name) for name in ("BinaryMVAU", "Pool", "LabelSelect")] == [9, 2, 1]
    assert_exact(result, 3)


@pytest.mark.slow
def test_cnv_has_estimates_with_every_layer_in_rtl(tmp_path):
    blueprint = tmp_path / "cnv.yaml"
    blueprint.write_text(CNV_BLUEPRINT.format(fps=3000, output="estimates", circuit=""))
    model = cnv(tmp_path / "cnv.onnx")
    result = build(model, blueprint, tmp_path / "out", verify_inputs=pixels(1, 3, 32, 32))
    assert [step.verified.mismatches for step in result.steps] == [0] * len(result.steps)
    assert {layer["backend"] for layer in result.report["layers"]} == {"rtl"}
    found = kinds(result)
    assert [found.count(name) for name in ("BinaryMVAU", "Pool", "LabelSelect")] == [9, 2, 1]
    assert result.report["estimate"]["fps"] >= 3000


@pytest.mark.slow
def test_counts_of_784_products_are_not_clipped(tmp_path):
    """FINN's rule gives the first layer an accumulator that ends at 511."""
    result = build(
        tfc(tmp_path / "tfc.onnx", (784, 2, 10)), TFC_BLUEPRINT, tmp_path / "out",
        verify_inputs=pixels(2, 784), produce="estimates",
    )  # fmt: skip
    layers = json.loads((result.output / "report/estimates.json").read_text())["layers"]
    products = [layer["attributes"] for layer in layers if layer["op_type"] == "BinaryMVAU_rtl"]
    assert [one["outputDataType"] for one in products] == ["UINT10", "UINT2"]
    assert {one["weightDataType"] for one in products} == {"BINARY"}
