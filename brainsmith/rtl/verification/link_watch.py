"""Run a design with probes: what moved at every link that carries a tensor, and what each stood waiting for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from brainsmith.rtl.simulation.ports import Interface
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.stitching.top_module import APART, plan_design, probe_design, switch_design
from brainsmith.rtl.verification.design_runs import frame_count, run_frames

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.simulation_result import SimulationResult, Watched
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.design_runs import RunOptions


@dataclass(frozen=True)
class WatchedRun:
    """A run in which all links were watched; it may have failed (`result.problem`).

    Attributes:
        design: What ran.
        frames: How many were fed.
        result: Of the simulation.
        sources: What was seen where a link begins, by its name.
        targets: What was seen where it ends; the same where no FIFO lies between.
    """

    design: Design
    frames: int
    result: SimulationResult
    sources: Mapping[str, Watched]
    targets: Mapping[str, Watched]

    def beats(self, link: Link) -> int:
        """Return how many beats of a tensor's link the frames have."""
        return self.frames * link.layout.beats if link.layout else 0

    def trusted(self) -> WatchedRun:
        """Return the run, unless it failed.

        Raises:
            SimulationError: It did.
        """
        if self.result.problem is not None:
            raise self.result.problem
        return self


def build_watched(design: Design, quick: bool = False) -> Simulator:
    """Build the simulation of a design with probes.

    Args:
        design: What is simulated.
        quick: Whether to compile without optimising, which is right for a few thousand cycles.

    Raises:
        SimulationError: It cannot be built.
        ToolError: A tool is missing or too old.
    """
    return build_simulator(plan_design(design, probes=True), quick=quick)


def build_apart(design: Design, quick: bool = False) -> Simulator:
    """Build the simulation of a design's layers, none of which is connected to another; `take_apart` has its streams.

    It is that of `build_watched`, so that whoever runs the whole design too compiles its layers once: an input connects
    each layer to the simulation's own streams instead of its neighbours.

    Args:
        design: What the layers are of.
        quick: As for `build_watched`.

    Raises:
        SimulationError: It cannot be built.
        ToolError: A tool is missing or too old.
    """
    streams = tuple(switch.stream for switch in switch_design(design))
    interface = Interface(streams, held=((APART, 1),))
    return build_simulator(plan_design(design, probes=True), interface=interface, quick=quick)


def watch_design(
    simulator: Simulator, design: Design, inputs: Mapping[str, NDArray[Any]], **how: Unpack[RunOptions]
) -> WatchedRun:
    """Run a design and watch its links; a run that fails is a result too.

    Args:
        simulator: As `build_watched` makes it.
        design: What it was built of.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        **how: As `run_design`; also a `window`, the cycles for which it is noted what each link did.

    Raises:
        ValueError: Values are not whole, do not fit, or the tensors differ in their frames.
    """
    fed = frame_count({stream.name: inputs[stream.layout.tensor] for stream in design.inputs})
    probes = probe_design(design)
    room = {probe.stream: fed * probe.link.layout.beats for probe in probes if probe.link.layout}
    options: RunOptions = {**how, "watched": room, "judge": False}
    frames, result = run_frames(simulator, design, inputs, **options)
    seen = {(probe.link.name, probe.side): result.watched[probe.stream.name] for probe in probes}
    sources = {name: watched for (name, side), watched in seen.items() if side == "source"}
    return WatchedRun(
        design, frames, result, sources, {name: seen.get((name, "target"), sources[name]) for name in sources}
    )
