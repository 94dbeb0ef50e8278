"""FINN's own steps, unchanged, in a pipeline of ours: partitions, reports, reuse."""

from pathlib import Path

import numpy as np
import pytest

from brainsmith.blueprint.schema import Blueprint, Goal
from brainsmith.build import build
from brainsmith.errors import VerificationError

ROOT = Path(__file__).parents[2]
SAMPLES = 24
NAMES = (
    "qonnx_to_finn",
    "tidy_up",
    "streamline",
    "convert_to_hw",
    "create_dataflow_partition",
    "specialize_layers",
    "target_fps_parallelization",
    "generate_estimate_reports",
)
TARGET = Blueprint("test", goal=Goal(part="xczu7ev-ffvc1156-2-e", clock_ns=5.0, fps=20000), steps=())


def run(output, steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(output.parent / "cache"))
        return build(
            ROOT / "examples/digits/cnn.onnx",
            TARGET,
            output,
            steps=steps,
            verify_inputs=np.load(ROOT / "examples/digits/digits_cnn_x.npy")[:SAMPLES],
            verify_labels=np.load(ROOT / "examples/digits/digits_y.npy")[:SAMPLES],
            report=False,
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("finn")


@pytest.fixture(scope="module")
def first(folder):
    return run(folder / "first", [f"finn:step_{name}" for name in NAMES])


@pytest.mark.slow
def test_every_step_verifies_also_inside_the_partition(first):
    assert [step.name for step in first.steps] == [f"finn:step_{name}" for name in NAMES]
    for step in first.steps:
        assert (step.verified.samples, step.verified.mismatches, step.verified.reason) == (SAMPLES, 0, "")
    assert first.accuracy["before"] == first.accuracy["after"]


@pytest.mark.slow
def test_finns_reports_become_ours(first):
    layers, estimate = first.report["layers"], first.report["estimate"]
    assert len(layers) == 13
    assert max(layer["cycles"] for layer in layers) == estimate["interval_cycles"]
    assert estimate["fps"] == pytest.approx(200e6 / estimate["interval_cycles"])
    assert estimate["lut"] == sum(layer["lut"] or 0 for layer in layers) > 0


@pytest.mark.slow
def test_a_second_build_reuses_even_the_partition(first, folder):
    second = run(folder / "second", [f"finn:step_{name}" for name in NAMES])
    assert [step.name for step in second.steps if not step.reused] == [], second.explanations
    assert [step.verified.samples for step in second.steps] == [SAMPLES] * len(NAMES)
    assert second.report["layers"] == first.report["layers"]
    parent = (folder / "second" / "intermediate_models" / "dataflow_parent.onnx").read_bytes()
    assert f"{folder}/second/intermediate_models/".encode() in parent
    assert (folder / "second/intermediate_models/supported_op_partitions/partition_0.onnx").is_file()


@pytest.mark.slow
def test_a_changed_weight_inside_the_partition_is_found(first, folder):
    def flip(model, cfg):
        node = next(node for node in model.graph.node if node.op_type.startswith("MVAU"))
        weights = model.get_initializer(node.input[1]).copy()
        weights[0, 0] += -1 if weights[0, 0] > 0 else 1
        model.set_initializer(node.input[1], weights)
        return model

    with pytest.raises(VerificationError, match=r"^step 'flip' changed what the model computes: "):
        run(folder / "third", [*(f"finn:step_{name}" for name in NAMES[:6]), flip])
