"""The shipped digits networks as stitched designs, with what the hardware model computes for the whole test set."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from brainsmith.build import build
from brainsmith.execution.execute import Executor
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.sizing.fifos import Sizing, size_fifos
from brainsmith.rtl.stitching.codegen import generate_layers
from brainsmith.rtl.stitching.design import Design
from brainsmith.rtl.stitching.stitch import stitch
from brainsmith.rtl.verification.design_runs import run_design

ROOT = Path(__file__).parents[2]
PART = "xczu7ev-ffvc1156-2-e"
SIZED_WITH = 6
PIXELS = {"mlp": "mlp", "cnn": "cnn", "residual": "cnn"}


@dataclass
class Digits:
    """One network."""

    design: Design
    sizing: Sizing
    pixels: np.ndarray
    expected: np.ndarray

    @property
    def feed(self):
        return {self.design.inputs[0].layout.tensor: self.pixels}

    def mismatches(self, run):
        """Count the frames whose result is not the golden model's."""
        found = run.outputs[self.design.outputs[0].layout.tensor]
        assert found.shape == self.expected.shape
        return int((found != self.expected).any(axis=tuple(range(1, found.ndim))).sum())


def make_digits(name, folder):
    """Build a network as its blueprint says, stitch it, and size its FIFOs."""
    model = _hardware_model(name, folder)
    design = stitch(generate_layers(model, folder / "code", PART))
    stream = design.inputs[0].layout
    pixels = np.load(ROOT / "examples" / "digits" / f"digits_{PIXELS[name]}_x.npy")
    pixels = pixels.reshape(len(pixels), *stream.shape).astype(np.int64)
    golden = Executor(model).run({stream.tensor: pixels.astype(np.float32)})[design.outputs[0].layout.tensor]
    sizing = size_fifos(design, {stream.tensor: pixels[:SIZED_WITH]})
    return Digits(sizing.design, sizing, pixels, golden.astype(np.int64))


def _hardware_model(name, folder):
    from qonnx.core.modelwrapper import ModelWrapper

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        reset_plugin_system()
        build(
            ROOT / "examples" / "digits" / f"{name}.onnx",
            ROOT / "blueprints" / f"digits_{name}_rtl.yaml",
            folder / "out",
            produce="estimates",
            verify=False,
            report=False,
        )
        reset_plugin_system()
    return ModelWrapper(str(folder / "out" / "model.onnx"))


def check_test_set(digits, simulator, held):
    """Simulate all images without stalls and with three random ones; `held` are their chances at both ends."""
    design = digits.design
    assert len(digits.pixels) == 360
    smooth = run_design(simulator, design, digits.feed)
    assert digits.mismatches(smooth) == 0
    assert smooth.interval == pytest.approx(design.interval, rel=0.01)
    assert design.interval < smooth.latency <= 1.1 * design.latency
    for seed in (1, 2, 3):
        stalls = {"s_axis_0": Stalls.random(seed, held[0]), "m_axis_0": Stalls.random(seed + 10, held[1])}
        run = run_design(simulator, design, digits.feed, stalls=stalls, limit=3 * smooth.result.cycles)
        assert digits.mismatches(run) == 0
        assert all(run.result.stalled_share(name) >= 0.1 for name in stalls)
        assert run.result.cycles > smooth.result.cycles
