"""Run a design over frames: whole tensors in, whole tensors out, and how many cycles that takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from brainsmith.rtl.simulation.beats import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path
    from typing import Unpack

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.simulation.ports import Stream
    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.simulation.stalls import Stalls
    from brainsmith.rtl.stitching.design import Design, Layout

SHORT = 100_000
"""Cycles that a simulation that was compiled without optimising runs in less time than that would cost."""


@dataclass(frozen=True)
class DesignRun:
    """The result of a run.

    Attributes:
        outputs: By tensor: (frames, *shape of one).
        interval: Cycles from the last beat of a frame to that of the next, on average; None for one frame.
        latency: Cycles from the first beat of the first frame to the last of its result.
        result: Of the simulation.
        tensors: Those from inside of the design that were asked for, as `outputs`.
    """

    outputs: dict[str, NDArray[np.int64]]
    interval: float | None
    latency: int
    result: SimulationResult
    tensors: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def frames(self) -> int:
        """How many were run."""
        return frame_count(self.outputs)

    @property
    def cycles(self) -> int:
        """How many it took, from the end of the reset to the last beat."""
        return self.result.cycles


class RunOptions(TypedDict, total=False):
    """How a design is run.

    Attributes:
        stalls: When the ends stall, by the design's streams; never by default.
        limit: The cycles after which the run is given up; ten times the estimate by default, and as many times
            more as the stalls slow it down at most.
        constant: Outputs that may have one value in all beats.
        surplus: Outputs that may offer more than the frames have, beside the design's own.
        trace: The VCD file to write; the simulator must have been built with it.
        watched: As `Simulator.run` takes it.
        window: Likewise.
        judge: Likewise.
    """

    stalls: Mapping[str, Stalls] | None
    limit: int | None
    constant: Collection[str]
    surplus: Collection[str]
    trace: Path | None
    watched: Mapping[Stream, int]
    window: range
    judge: bool


def run_design(
    simulator: Simulator, design: Design, inputs: Mapping[str, NDArray[Any]], **how: Unpack[RunOptions]
) -> DesignRun:
    """Run a design until all frames have come out.

    Args:
        simulator: Built of the design, or of the same with gauges.
        design: Says how tensors lie in streams.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        **how: How it is run.

    Raises:
        SimulationError: As `Simulator.run`.
        ValueError: Values are not whole, do not fit, or the tensors differ in their frames.
    """
    frames, result = run_frames(simulator, design, inputs, **how)
    return whole_frames(design, result, frames)


def run_frames(
    simulator: Simulator, design: Design, inputs: Mapping[str, NDArray[Any]], **how: Unpack[RunOptions]
) -> tuple[int, SimulationResult]:
    """Run a design as `run_design` does; return how many frames there are, and what the simulation gave."""
    frames, words, counts = design_beats(design, inputs)
    options: RunOptions = {**how, "surplus": (*design.surplus, *how.get("surplus", ()))}
    return frames, simulator.run(words, counts, estimate=estimated_cycles(design, frames), **options)


def whole_frames(design: Design, result: SimulationResult, frames: int) -> DesignRun:
    """Return what a simulation that gave all beats of some frames computed, and how fast."""
    outputs = {
        stream.layout.tensor: layout_values(stream.layout, result.streams[stream.name].words, frames)
        for stream in design.outputs
    }
    spans = frame_spans(design, result, frames)
    (begin, first), (_, last) = spans[0], spans[-1]
    interval = (last - first) / (frames - 1) if frames > 1 else None
    return DesignRun(outputs, interval, first - begin + 1, result)


def frame_spans(design: Design, result: SimulationResult, frames: int) -> list[tuple[int, int]]:
    """Return of each frame the cycle of its first beat in, and that of its last beat out."""
    fed, given = (
        [result.streams[stream.name].frames(frames) for stream in streams]
        for streams in (design.inputs, design.outputs)
    )
    return [(min(one[at][0] for one in fed), max(one[at][1] for one in given)) for at in range(frames)]


def frame_count(tensors: Mapping[str, NDArray[Any]]) -> int:
    """Return how many frames all of some tensors have."""
    return min(len(tensor) for tensor in tensors.values())


def first_frames(tensors: Mapping[str, NDArray[Any]], count: int) -> dict[str, NDArray[Any]]:
    """Return the first frames of tensors."""
    return {name: tensor[:count] for name, tensor in tensors.items()}


def design_beats(
    design: Design, inputs: Mapping[str, NDArray[Any]]
) -> tuple[int, dict[str, Words], dict[str, int]]:
    """Return how many frames there are, the beats of each input, and how many each output must give.

    Raises:
        ValueError: Values are not whole, do not fit, or the tensors differ in their frames.
    """
    counts = {len(inputs[stream.layout.tensor]) for stream in design.inputs}
    if len(counts) != 1 or not min(counts):
        raise ValueError(f"every input must have the same number of frames, 1 or more, not {sorted(counts)}")
    frames = counts.pop()
    words = {
        stream.name: layout_words(stream.layout, stream.bits, inputs[stream.layout.tensor])
        for stream in design.inputs
    }
    return frames, words, {stream.name: frames * stream.layout.beats for stream in design.outputs}


def estimated_cycles(design: Design, frames: int) -> int:
    """Return the estimate of the cycles of so many frames."""
    return frames * design.interval + design.latency


def is_short(design: Design, frames: int) -> bool:
    """Tell whether running so many frames takes less time than optimising the simulation for them."""
    return estimated_cycles(design, frames) < SHORT


def random_frames(design: Design, frames: int = 8, seed: int = 0) -> dict[str, NDArray[np.int64]]:
    """Return random inputs of a design, by tensor: (frames, *shape of one)."""
    random = np.random.default_rng(seed)
    made = {}
    for stream in design.inputs:
        low, high = stream.layout.span
        step = 2 if stream.layout.bipolar else 1  # 0 is no bipolar value
        shape = (frames, *stream.layout.shape)
        made[stream.layout.tensor] = low + step * random.integers(0, (high - low) // step + 1, shape)
    return made


def layout_words(layout: Layout, bits: int, values: NDArray[Any]) -> Words:
    """Return the beats of whole tensors: (frames, *shape of one) as (beats, bytes).

    Raises:
        ValueError: Values are not whole, or do not fit.
    """
    lanes = np.asarray(values).reshape(-1, layout.lanes)
    if layout.bipolar:
        if not np.isin(lanes, (-1, 1)).all():
            raise ValueError(f"tensor {layout.tensor!r} is bipolar: values must be -1 or 1")
        lanes = lanes > 0
    return pack(lanes, layout.lane_bits, bits)


def layout_values(layout: Layout, words: Words, frames: int) -> NDArray[np.int64]:
    """Return whole tensors from their beats: (frames, *shape of one)."""
    return lane_values(layout, words).reshape(frames, *layout.shape)


def lane_values(layout: Layout, words: Words) -> NDArray[np.int64]:
    """Return the values of beats: (beats, lanes)."""
    values = unpack(words, layout.lane_bits, layout.lanes, layout.signed)
    return 2 * values - 1 if layout.bipolar else values
