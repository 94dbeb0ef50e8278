"""Our steps run in FINN's own builder, and FINN's own steps among ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.build import build
from brainsmith.execution.execute import Executor
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from tests.steps.conftest import DIGITS, PART, digits_model, op_types

ROOT = Path(__file__).parents[2]

OURS = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold", "estimate")

MIXED = {
    "FINN's front, our back": (
        "finn:step_qonnx_to_finn",
        "finn:step_tidy_up",
        "finn:step_streamline",
        "hardware_inference",
        "specialize",
        "fold",
        "estimate",
    ),
    "our front, FINN's back": (
        "cleanup",
        "qonnx_to_finn",
        "streamline",
        "hardware_inference",
        "finn:step_create_dataflow_partition",
        "finn:step_specialize_layers",
        "finn:step_target_fps_parallelization",
        "finn:step_apply_folding_config",
        "finn:step_minimize_bit_width",
        "finn:step_generate_estimate_reports",
    ),
    "one by one": (
        "finn:step_qonnx_to_finn",
        "cleanup",
        "finn:step_tidy_up",
        "streamline",
        "finn:step_convert_to_hw",
        "finn:step_minimize_bit_width",
        # FINN leaves the CNN's first Transpose to the host, and folds only what it has partitioned.
        "finn:step_create_dataflow_partition",
        "specialize",
        "finn:step_target_fps_parallelization",
        "finn:step_apply_folding_config",
        "estimate",
        "finn:step_generate_estimate_reports",
    ),
}


@pytest.fixture
def finn_config(tmp_path):
    from finn.builder.build_dataflow_config import DataflowBuildConfig, DataflowOutputType

    return DataflowBuildConfig(
        output_dir=str(tmp_path),
        synth_clk_period_ns=5.0,
        fpga_part=PART,
        target_fps=20_000,
        standalone_thresholds=True,
        generate_outputs=[DataflowOutputType.ESTIMATE_REPORTS],
    )


def outputs(model, images):
    executor = Executor(model)
    shape = executor.shape(executor.inputs[0])
    stack = images.reshape(len(images), *shape).astype(np.float32)
    return executor.run({executor.inputs[0]: stack})[executor.outputs[0]].reshape(len(images), -1)


@pytest.mark.slow
@pytest.mark.parametrize("order", list(MIXED))
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_finns_steps_and_ours_change_places(finn_config, tmp_path, name, order):
    images = np.load(DIGITS / f"digits_{name}_x.npy")[:32]
    model = digits_model(name)
    expected = outputs(model, images)
    for step in MIXED[order]:
        model = steps[step](model, finn_config)
        assert np.array_equal(outputs(model, images), expected), step
    assert {node.rpartition("_")[2] for node in op_types(model)} <= {"rtl", "hls"}
    if "finn:step_generate_estimate_reports" in MIXED[order]:
        finn = json.loads((tmp_path / "report" / "estimate_network_performance.json").read_text())
        assert finn["max_cycles"] <= 10_000
    if {"estimate", "finn:step_generate_estimate_reports"} <= set(MIXED[order]):
        ours = json.loads((tmp_path / "report" / "estimates.json").read_text())
        resources = json.loads((tmp_path / "report" / "estimate_layer_resources.json").read_text())
        assert ours["interval_cycles"] == finn["max_cycles"]
        # FINN adds layers up, though each begins before the one before it has finished; of windows ours are the circuit's.
        cycles = {layer["name"]: layer["cycles"] for layer in ours["layers"]}
        nearer = {
            node.name: cycles[node.name] - getCustomOp(node).get_exp_cycles() for node in model.graph.node
        }
        assert all(
            name.startswith("ConvolutionInputGenerator_rtl") for name, cycle in nearer.items() if cycle
        )
        assert ours["latency_cycles"] < finn["critical_path_cycles"] + sum(nearer.values())
        assert ours["fps"] == finn["estimated_throughput_fps"]
        # FINN has no LUTs of products, and counts four of them to a slice, whatever the part and their bits.
        products = {layer["name"]: layer["lut"] for layer in ours["layers"] if layer["op_type"] == "MVAU_rtl"}
        assert {name: resources[name]["LUT"] for name in products} == dict.fromkeys(products, 0)
        assert all(products.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("mlp", {"Thresholding_rtl", "MVAU_rtl"}),
        ("cnn", {"Thresholding_rtl", "MVAU_rtl", "Pool_rtl", "LabelSelect_rtl"}),
    ],
)
def test_finns_own_builder_runs_our_steps(name, kinds, tmp_path):
    code = f"""
from brainsmith.plugins import steps
from finn.builder.build_dataflow import build_dataflow_cfg
from finn.builder.build_dataflow_config import DataflowBuildConfig
config = DataflowBuildConfig(
    output_dir={str(tmp_path / "out")!r}, synth_clk_period_ns=5.0, fpga_part={PART!r}, target_fps=20000,
    steps=[getattr(steps, name) for name in {OURS!r}], generate_outputs=[], standalone_thresholds=True,
)
raise SystemExit(build_dataflow_cfg({str(DIGITS / f"{name}.onnx")!r}, config))
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XILINX_VIVADO": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    noted = json.loads((tmp_path / "out" / "report" / "metadata_builder.json").read_text())
    assert noted == {"status": "ok", "tool_version": "not installed"}
    report = json.loads((tmp_path / "out" / "report" / "estimates.json").read_text())
    assert kinds <= {layer["op_type"] for layer in report["layers"]}
    assert {layer["backend"] for layer in report["layers"]} == {"rtl"}
    assert report["fps"] >= 20_000


FRONT = [
    steps.cleanup,
    lambda model, cfg: model.transform(tfm.ExpandNorms()),
    steps.qonnx_to_finn,
    lambda model, cfg: model.transform(tfm.finn.Streamline()),
    steps.hardware_inference,
]
"""The list of steps with which the documents show what FINN's builder takes; they are in docs/api.md too."""

ENCODER = ROOT / "examples" / "encoder" / "encoder.onnx"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("blueprint", "norm"), [(None, "FLOAT32"), (ROOT / "blueprints" / "encoder_rtl.yaml", "INT12")]
)
def test_the_documented_list_builds_a_network_with_normalisations(tmp_path, blueprint, norm):
    result = build(ENCODER, blueprint, tmp_path / "out", steps=FRONT)
    assert [step.verified.mismatches for step in result.steps] == [0] * 5
    model = ModelWrapper(str(result.model))
    kernels = model.get_nodes_by_op_type("LayerNormKernel")
    assert [model.get_tensor_datatype(kernel.output[0]).name for kernel in kernels] == [norm] * 2


@pytest.mark.slow
def test_finns_own_builder_takes_the_documented_list_for_a_network_with_normalisations(tmp_path):
    code = f"""
from brainsmith.plugins import steps, transforms as tfm
from finn.builder.build_dataflow import build_dataflow_cfg
from finn.builder.build_dataflow_config import DataflowBuildConfig
front = [
    steps.cleanup,
    lambda model, cfg: model.transform(tfm.ExpandNorms()),
    steps.qonnx_to_finn,
    lambda model, cfg: model.transform(tfm.finn.Streamline()),
    steps.hardware_inference,
]
config = DataflowBuildConfig(
    output_dir={str(tmp_path / "out")!r}, synth_clk_period_ns=5.0, fpga_part={PART!r}, steps=front,
    generate_outputs=[], standalone_thresholds=True,
)
raise SystemExit(build_dataflow_cfg({str(ENCODER)!r}, config))
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XILINX_VIVADO": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = tmp_path / "out" / "intermediate_models"
    assert sorted(path.name for path in kept.iterdir()) == [
        "<lambda>.onnx", "<lambda>_2.onnx", "cleanup.onnx", "hardware_inference.onnx", "qonnx_to_finn.onnx"
    ]  # fmt: skip
    assert (kept / "<lambda>.onnx").read_bytes() != (kept / "<lambda>_2.onnx").read_bytes()
    made = ModelWrapper(str(kept / "hardware_inference.onnx"))
    assert op_types(made).count("LayerNormKernel") == 2
    images = np.load(ENCODER.with_name("encoder_x.npy"))[:32]
    assert np.array_equal(outputs(made, images), outputs(ModelWrapper(str(ENCODER)), images))
