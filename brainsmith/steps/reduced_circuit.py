"""The whole circuit for a smaller image: what a frame of the full size would take too long to show."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError, SimulationError, VerificationError
from brainsmith.figures import plural
from brainsmith.steps.golden_frames import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.frame_time import FrameTime

    Stacks = dict[str, np.ndarray[Any, Any]]

FRAMES = 4
"""That are simulated, without stalls and again with random ones, if there is time for so many."""


@dataclass(frozen=True)
class Reduced:
    """The whole circuit for a smaller image, of which every output and link was the golden model's.

    Attributes:
        image: Height and width that were simulated.
        of: Height and width of the network's own.
        frames: How many were run without stalls; each is cut out of a golden input.
        stalled_frames: How many were run with random stalls at both ends.
        interval_cycles: Measured; None for one frame.
        interval_estimate: For this image.
        latency_cycles: Measured.
    """

    image: tuple[int, int]
    of: tuple[int, int]
    frames: int
    stalled_frames: int
    interval_cycles: float | None
    interval_estimate: int
    latency_cycles: int

    def __str__(self) -> str:
        small, full = (" x ".join(map(str, size)) for size in (self.image, self.of))
        stalled = ", and 0 with random stalls" if self.stalled_frames else ""
        return (
            f"the whole circuit for an image of {small} in place of {full}, with the same layers, weights, folding and "
            f"FIFOs: 0 of {plural(self.frames, 'frame')} differ{stalled}"
        )


def frames_in(seconds: float, time: FrameTime, image: tuple[int, ...]) -> int:
    """Return how many frames of the smallest image are simulated.

    Raises:
        BuildError: There is no time for one.
    """
    if time.seconds > seconds:
        shape = " x ".join(map(str, image))
        raise BuildError(f"a frame of the smallest image, {shape}, would take {time} as well")
    return max(1, min(FRAMES, int(seconds // max(time.seconds, 1e-9))))


def verify_reduced(
    model: ModelWrapper,
    design: Design,
    golden: Mapping[str, Any],
    cfg: Any,
    seconds: float,
    seed: int | None = 1,
) -> Reduced:
    """Verify the whole circuit for the smallest image that its layers take.

    The layers generate their RTL again, for that image, with the weights, thresholds and folding that they have; the
    FIFOs have the depths of the full circuit. Every link is compared with the model of these layers, executed in Python.

    Args:
        model: With a stitched design.
        design: That one, its FIFOs sized.
        golden: Inputs of the design by tensor, out of which smaller images are cut.
        cfg: The build's configuration.
        seconds: What simulating one frame may take.
        seed: Of the random stalls; None for none.

    Raises:
        BuildError: There is no smaller image, or a frame of the smallest takes too long as well; the reason.
        VerificationError: The circuit computes something else; the layer at fault is named.
        SimulationError: It cannot be simulated, or does not end.
    """
    from brainsmith.rtl.stitching.smaller_image import image_of, smallest_image
    from brainsmith.rtl.verification.design_runs import first_frames
    from brainsmith.rtl.verification.design_verification import verify_design
    from brainsmith.rtl.verification.frame_time import predict

    smaller, size = smallest_image(model)
    circuit = _circuit(smaller, design, cfg)
    count = frames_in(seconds, predict(circuit), size)
    tensors = _tensors(smaller, circuit, cuttings(golden, size, count))
    inputs = {stream.layout.tensor: tensors[stream.layout.tensor] for stream in circuit.inputs}
    outputs = {stream.layout.tensor: tensors[stream.layout.tensor] for stream in circuit.outputs}
    seeds = () if seed is None else (seed,)
    try:
        done = verify_design(
            circuit,
            inputs,
            outputs,
            seeds,
            tensors=partial(first_frames, tensors),
            # Few pixels may lead to one result; every link is compared then.
            constant=list(outputs),
        )
    except (VerificationError, SimulationError) as error:
        shape = " x ".join(map(str, size))
        raise type(error)(f"the whole circuit, for an image of {shape}: {error}") from error
    return Reduced(
        size,
        image_of(model),
        done.frames,
        done.stalled_frames,
        done.interval_cycles,
        done.interval_estimate,
        done.latency_cycles,
    )


def cuttings(golden: Mapping[str, Any], size: tuple[int, int], count: int) -> Stacks:
    """Cut smaller images out of golden ones, along the diagonal; by tensor: (count, 1, height, width, channels)."""
    found = {}
    for name, stack in golden.items():
        room = [full - small for full, small in zip(stack.shape[-3:-1], size, strict=True)]
        places = [[space * at // max(count - 1, 1) for space in room] for at in range(count)]
        frames = [stack[at % len(stack)] for at in range(count)]
        found[name] = np.stack(
            [
                frame[..., top : top + size[0], left : left + size[1], :]
                for frame, (top, left) in zip(frames, places, strict=True)
            ]
        )
    return found


def _circuit(model: ModelWrapper, design: Design, cfg: Any) -> Design:
    """Generate and stitch the layers, with the FIFOs that a design of other sizes has."""
    from brainsmith.rtl.stitching.codegen import generate_layers
    from brainsmith.rtl.stitching.stitch import stitch

    with tempfile.TemporaryDirectory(prefix="brainsmith-reduced-") as folder:
        made = generate_layers(model, Path(folder), cfg._resolve_fpga_part(), cfg.synth_clk_period_ns)
        circuit = stitch(made)
    depths = {link.name: link.depth for link in design.links if not link.weights}
    return circuit.with_depths(depths)


def _tensors(model: ModelWrapper, design: Design, fed: Stacks) -> Stacks:
    """Return what every link should carry, whole numbers."""
    from brainsmith.execution.execute import Executor

    layouts = {link.layout.tensor: link.layout for link in design.links if link.layout}
    given = {name: np.asarray(stack, np.float32) for name, stack in fed.items()}
    results = {**given, **Executor(model).run(given, keep=frozenset(layouts))}
    return {name: whole(results[name], layout) for name, layout in layouts.items()}
