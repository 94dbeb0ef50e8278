"""The digits MLP as a stitched design with FIFOs, and what its hardware model computes for every link."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build.config import StepConfig
from brainsmith.plugins import steps
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.design import Design
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.steps.golden_frames import GoldenFrames
from brainsmith.steps.host_ends import without_host_ends

DIGITS = Path(__file__).parents[3] / "examples" / "digits"
PART = "xczu7ev-ffvc1156-2-e"
FRONT = ("cleanup", "qonnx_to_finn", "streamline", "hardware_inference", "specialize", "fold")
DEEP = {
    "StreamingDataWidthConverter_rtl_0_out0_V": 7,
    "StreamingDataWidthConverter_rtl_1_out0_V": 15,
    "Thresholding_rtl_2_out0_V": 16,
}
"""FIFOs with which it runs at its estimated rate; all others need two beats."""


@dataclass
class Network:
    """A design, and frames for it."""

    design: Design
    frames: GoldenFrames

    def inputs(self, count):
        return {name: tensor[:count] for name, tensor in self.frames.inputs.items()}


@pytest.fixture(scope="session")
def mlp(tmp_path_factory):
    return make_network("mlp", tmp_path_factory.mktemp("mlp"), 200_000)


@pytest.fixture(scope="session")
def cnn(tmp_path_factory):
    """The digits CNN; its FIFOs are too small for the estimated rate, but not for its results."""
    return make_network("cnn", tmp_path_factory.mktemp("cnn"), 20_000)


def make_network(name, folder, frames_per_second):
    inputs = DIGITS / f"digits_{name}_x.npy"
    config = StepConfig(
        str(folder), 5.0, PART, frames_per_second, verify_input_npy=inputs, kernel_preferences={"*": ("rtl",)}
    )
    model = ModelWrapper(str(DIGITS / f"{name}.onnx"))
    for step in FRONT:
        model = steps[step](model, config)
    model = generate_layers(without_host_ends(model, config), folder / "code", PART)
    design = stitch(model)
    depths = {link.name: DEEP.get(link.name, 2) for link in design.links if not link.weights}
    design = design.with_depths(depths)
    return Network(design, GoldenFrames(model, design, config))


@pytest.fixture(scope="session")
def tensors(mlp):
    """What every link carries, for 6 frames."""
    return {name: np.array(tensor) for name, tensor in mlp.frames.tensors(6).items()}
