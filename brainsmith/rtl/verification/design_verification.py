"""Verify a design: each frame of its simulation must have the golden model's result, bit for bit.

For example, with 360 golden images and three seeds: 360 frames without stalls; then, for each seed, all of them with
random stalls at both ends, in a fifth of all cycles at first, in later runs twice and six times as long, so that
FIFOs fill up. A run in which an end stalls in less than a tenth of all cycles shows too little, and is repeated with
longer stalls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.errors import VerificationError
from brainsmith.figures import share
from brainsmith.rtl.simulation.side_by_side import side_by_side
from brainsmith.rtl.verification.chances import LEAST_SHARE, random_stalls
from brainsmith.rtl.verification.design_runs import (
    estimated_cycles,
    first_frames,
    frame_count,
    is_short,
)
from brainsmith.rtl.verification.explained_runs import explain, run_explained
from brainsmith.rtl.verification.link_watch import build_watched

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.simulation.stalls import Stalls
    from brainsmith.rtl.stitching.design import Design
    from brainsmith.rtl.verification.design_runs import DesignRun, RunOptions
    from brainsmith.rtl.verification.explained_runs import GoldenTensors, Tensors

MORE = (1.0, 2.0, 6.0)
"""How much longer the stalls of each run are than stalls in a fifth of all cycles: short ones separate beats, long
ones fill the design up."""

ATTEMPTS = 6
"""Runs that are tried until the ends stall often enough; in each the stalls are twice as long."""

_ENDS = ("input", "output")


@dataclass(frozen=True)
class StalledRun:
    """One run with random stalls at all inputs and outputs.

    Attributes:
        seed: Of the stalls.
        cycles: How many it took.
        stalled: In how many cycles the inputs, and the outputs, stalled a beat; keys `input` and `output`, summed
            over streams.
        shares: The same as a share of all cycles, of the stream that stalled least.
        mismatches: Frames whose result is not the golden model's.
    """

    seed: int
    cycles: int
    stalled: dict[str, int]
    shares: dict[str, float]
    mismatches: int


@dataclass(frozen=True)
class Verification:
    """What was verified; the frames of all runs have the golden model's results.

    Attributes:
        frames: How many were run without stalls.
        mismatches: Frames among them whose result differs.
        stalled_frames: How many were run with stalls, of all seeds.
        stalled_mismatches: Frames among them whose result differs.
        stalled_cycles: `StalledRun.stalled`, summed over the seeds.
        stalled_shares: `StalledRun.shares` of the run with the least.
        interval_cycles: Measured: cycles from one frame to the next, on average; None for one frame.
        interval_estimate: FINN's.
        latency_cycles: Measured: cycles from the first beat of the first frame to the last of its result.
        cycles: Of all runs.
        cycles_per_second: How fast they were simulated.
        runs: Those with stalls.
    """

    frames: int
    mismatches: int
    stalled_frames: int
    stalled_mismatches: int
    stalled_cycles: dict[str, int]
    stalled_shares: dict[str, float]
    interval_cycles: float | None
    interval_estimate: int
    latency_cycles: int
    cycles: int
    cycles_per_second: int
    runs: tuple[StalledRun, ...]


def verify_design(
    design: Design,
    inputs: Tensors,
    golden: Tensors,
    seeds: Sequence[int] = (1, 2, 3),
    *,
    limit: int | None = None,
    tensors: GoldenTensors | None = None,
    constant: Collection[str] = (),
    section: bool = False,
) -> Verification:
    """Run all frames without stalls, and for each seed with random ones at both ends.

    Args:
        design: What is verified.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        golden: The golden model's outputs of these frames, in the same form.
        seeds: Of the stalls.
        limit: The cycles after which a run is given up; it follows the estimate by default.
        tensors: Gives the golden model's tensors of the first so many frames, so that a failure can be traced to a
            layer; `golden` by default.
        constant: Tensors of outputs that may be the same in all frames, because each layer was seen to compute alone.
            Where one is, every link of the design is compared with `tensors` as well.
        section: Whether the design is a section of another, where frames may be all the same, outputs may never change,
            and after padding a window may begin the next frame, for which the next layer waits.

    Raises:
        VerificationError: A frame's result is not the golden model's, and the layer at fault; or the frames could not
            show a fault.
        SimulationStalledError: A run did not end; who waits for what.
        SimulationError: The design cannot be built, reported an error, or gave outputs that never change.
        ValueError: Values are not whole, do not fit, or the tensors differ in their frames.
    """
    if not section:
        _check_telling(inputs, golden, constant)
    simulator = build_verified(design, inputs, seeds)
    tensors = tensors or partial(first_frames, golden)
    still = [one.name for one in design.outputs if one.layout.tensor in constant]
    ends = [one.name for one in design.outputs] if section else []
    ahead = ends if any(layer.early for layer in design.layers) else []
    bench = _Bench(simulator, design, inputs, golden, limit, tensors, ends or still, ahead)
    stalled_runs = [partial(bench.stalled, seed, MORE[at % len(MORE)]) for at, seed in enumerate(seeds)]
    smooth, *runs = side_by_side("the whole design", [partial(bench.run, {}, limit), *stalled_runs])
    if still:
        bench.compare_links()
    stalled = [bench.shown(seed, run) for seed, run in zip(seeds, runs, strict=True)]
    results = [smooth.result, *(run.result for run in runs)]
    frames = frame_count(inputs)
    cycles = sum(result.cycles for result in results)
    return Verification(
        frames=frames,
        mismatches=0,
        stalled_frames=frames * len(stalled),
        stalled_mismatches=sum(run.mismatches for run in stalled),
        stalled_cycles={end: sum(run.stalled[end] for run in stalled) for end in _ENDS},
        stalled_shares={end: min((run.shares[end] for run in stalled), default=0.0) for end in _ENDS},
        interval_cycles=smooth.interval,
        interval_estimate=design.interval,
        latency_cycles=smooth.latency,
        cycles=cycles,
        cycles_per_second=round(cycles / sum(result.seconds for result in results)),
        runs=tuple(stalled),
    )


def build_verified(design: Design, inputs: Tensors, seeds: Sequence[int] = (1, 2, 3)) -> Simulator:
    """Build the simulation with which `verify_design` of the same arguments runs, or take the one that is kept.

    It has probes, which cost 5 % of its speed, so that what watches the links of the design needs no other one.

    Raises:
        SimulationError: It cannot be built.
        ToolError: A tool is missing or too old.
    """
    quick = is_short(design, frame_count(inputs) * (1 + len(seeds)))
    return build_watched(design, quick)


@dataclass(frozen=True)
class _Bench:
    """A design, and what it is verified with."""

    simulator: Simulator
    design: Design
    inputs: Tensors
    golden: Tensors
    limit: int | None
    tensors: GoldenTensors
    constant: list[str]
    surplus: list[str]

    def compare_links(self) -> None:
        """Run the first frames with every link watched, and compare what moved: outputs that never change show little.

        Raises:
            VerificationError: A link does not carry what the golden model computes; the layer at fault is named.
        """
        every = [stream.name for stream in self.design.outputs]  # the first frames may well give one value
        found = explain(self.design, self.inputs, self.tensors, limit=self.limit, constant=every)
        if found.kind != "right":
            raise VerificationError(
                f"the RTL gives the golden outputs, and does not compute what the golden model computes:\n{found}"
            )

    def run(self, stalls: Mapping[str, Stalls], limit: int | None) -> DesignRun:
        """Run all frames and compare them.

        Raises:
            VerificationError: One differs; the layer at fault is named.
        """
        how: RunOptions = {
            "stalls": stalls, "limit": limit, "constant": self.constant, "surplus": self.surplus
        }  # fmt: skip
        run = run_explained(self.simulator, self.design, self.inputs, self.tensors, **how)
        problem = self._difference(run)
        if problem:
            found = explain(self.design, self.inputs, self.tensors, **how)
            stalled = " with random stalls" if stalls else ""
            raise VerificationError(
                f"the RTL does not compute what the golden model computes{stalled}: {problem}\n{found}"
            )
        return run

    def stalled(self, seed: int, more: float) -> DesignRun:
        """Run all frames with stalls of one seed, which become longer until both ends stall often enough."""
        frames, limit = frame_count(self.inputs), self.limit
        for _ in range(ATTEMPTS):
            stalls = random_stalls(self.design, seed, more)
            if self.limit is None:
                limit = int(1000 + 20 * more * estimated_cycles(self.design, frames))
            run = self.run(stalls, limit)
            shares = self.shown(seed, run).shares
            if min(shares.values()) >= LEAST_SHARE:
                return run
            more *= 2
        listed = ", ".join(f"{kind} {share(part, 1)}" for kind, part in shares.items())
        raise VerificationError(
            f"random stalls stop the design's inputs and outputs in too few cycles ({listed}; {share(LEAST_SHARE, 0)} are "
            "needed), so "
            f"they prove nothing\n  verify with more than {frames} frames"
        )

    def shown(self, seed: int, run: DesignRun) -> StalledRun:
        """Return what a run with stalls says in reports."""
        found = run.result
        ends = {"input": self.design.inputs, "output": self.design.outputs}
        names = {end: [stream.name for stream in streams] for end, streams in ends.items()}
        shares = {end: round(min(map(found.stalled_share, names[end])), 4) for end in ends}
        stalled = {end: sum(found.streams[name].stalled for name in names[end]) for end in ends}
        return StalledRun(seed, found.cycles, stalled, shares, 0)

    def _difference(self, run: DesignRun) -> str:
        """Say how many frames differ, and where the first difference is; empty if none does."""
        for stream in self.design.outputs:
            tensor = stream.layout.tensor
            differs = run.outputs[tensor] != self.golden[tensor]
            if differs.any():
                count = int(differs.reshape(len(differs), -1).any(axis=1).sum())
                at = tuple(int(place) for place in np.argwhere(differs)[0])
                return (
                    f"{count} of {len(differs)} frames differ, first frame {at[0]} at output {tensor!r} "
                    f"[{', '.join(map(str, at[1:]))}]: {run.outputs[tensor][at]} instead of {self.golden[tensor][at]}"
                )
        return ""


def _check_telling(inputs: Tensors, golden: Tensors, constant: Collection[str]) -> None:
    """Refuse frames with which a design that ignores its inputs would pass.

    Args:
        inputs: By tensor.
        golden: By tensor.
        constant: Outputs that may be the same in all frames.

    Raises:
        VerificationError: All inputs, or all golden outputs, are the same.
    """
    for what, tensors in (("inputs", inputs), ("golden outputs", golden)):
        if tensors is golden and set(tensors) <= set(constant):
            continue
        stacks = [np.asarray(tensor) for tensor in tensors.values()]
        if all((stack == stack[:1]).all() for stack in stacks) and all(len(stack) > 1 for stack in stacks):
            raise VerificationError(
                f"the {what} of all {len(stacks[0])} frames are the same, so a simulation whose inputs were not "
                "applied would not be noticed\n  verify with inputs that differ and lead to different results"
            )
