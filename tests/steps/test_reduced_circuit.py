"""The whole circuit for a smaller image, in place of a frame that takes too long."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import BuildError
from brainsmith.execution.read_model import read_model
from brainsmith.plugins import steps
from brainsmith.rtl.verification.frame_time import FrameTime
from brainsmith.steps.design_files import hand_over, take_design
from brainsmith.steps.golden_frames import GoldenFrames
from brainsmith.steps.reduced_circuit import Reduced, cuttings, frames_in, verify_reduced

RESNET = Path(__file__).parents[1] / "exports" / "resnet_block.onnx"
"""16 x 16 pixels, a stem and two residual blocks."""


def test_smaller_images_are_cut_out_along_the_diagonal():
    stack = np.arange(2 * 6 * 5).reshape(2, 1, 6, 5, 1)
    found = cuttings({"in": stack}, (3, 2), 4)["in"]
    assert found.shape == (4, 1, 3, 2, 1)
    for at, (top, left) in enumerate([(0, 0), (1, 1), (2, 2), (3, 3)]):
        np.testing.assert_array_equal(found[at], stack[at % 2][:, top : top + 3, left : left + 2])


def test_what_was_simulated_is_said():
    done = Reduced((4, 4), (16, 16), 1, 0, None, 576, 900)
    assert str(done) == (
        "the whole circuit for an image of 4 x 4 in place of 16 x 16, with the same layers, weights, folding and FIFOs: "
        "0 of 1 frame differ"
    )
    assert str(replace(done, stalled_frames=4)).endswith("differ, and 0 with random stalls")


def test_as_many_frames_as_there_is_time_for():
    time = FrameTime(6_000_000, 10_000, measured=False)  # ten minutes
    assert [frames_in(seconds, time, (32, 32)) for seconds in (600, 1_300, 9_000)] == [1, 2, 4]
    with pytest.raises(BuildError) as caught:
        frames_in(599, time, (32, 32))
    assert str(caught.value) == (
        "a frame of the smallest image, 32 x 32, would take about 10 min 0 s (6,000,000 cycles, 10,000 a second, "
        "assumed) as well"
    )


@pytest.mark.slow
def test_a_residual_network_for_a_smaller_image(config, tmp_path):
    config.target_fps = 20_000
    model = steps.cleanup(read_model(RESNET), config)
    for name in ("integer", "hardware_inference", "specialize", "fold", "rtl_codegen", "rtl_stitch"):
        model = steps[name](model, config)
    bare = take_design(model, config)
    design = bare.with_depths({link.name: 64 for link in bare.links if link.layout})
    hand_over(model, config, design)
    steps.rtl_simulate(model, config, frames=1, frame_seconds=0)
    report = json.loads((tmp_path / "report" / "rtl_simulation.json").read_text())
    parts = report["parts"]
    found = parts["reduced"]
    assert (found["image"], found["of"], found["frames"], found["stalled_frames"]) == (
        [4, 4],
        [16, 16],
        4,
        4,
    )
    assert found["interval_cycles"] == found["interval_estimate"] < design.interval
    assert parts["text"].endswith(
        "; the whole circuit for an image of 4 x 4 in place of 16 x 16, with the same layers, weights, folding and FIFOs: "
        "0 of 4 frames differ, and 0 with random stalls"
    )
    assert parts["uncovered"] == [
        "the whole circuit was simulated at once for a smaller image only: whether its FIFOs are deep enough for the "
        "full one, and the rate and the latency there, are not shown"
    ]
    golden = GoldenFrames(model, design, config, 1)
    with pytest.raises(BuildError) as caught:
        verify_reduced(model, design, golden.inputs, config, 0.0)
    assert str(caught.value).startswith("a frame of the smallest image, 4 x 4, would take about 0 s (")
