"""Runs of a design that show how fast its frames come, with FIFOs of its own or of any depths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import SimulationError
from brainsmith.figures import plural
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.sizing.adjustable import plan_adjustable
from brainsmith.rtl.sizing.fifo_hardware import DEEPEST, is_modelled
from brainsmith.rtl.stitching.top_module import DEPTH, FILL
from brainsmith.rtl.verification.design_runs import frame_spans, layout_words
from brainsmith.rtl.verification.link_watch import build_watched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.simulation.beats import Words
    from brainsmith.rtl.simulation.simulation_result import SimulationResult
    from brainsmith.rtl.simulation.stalls import Stalls
    from brainsmith.rtl.stitching.design import Design


@dataclass(frozen=True)
class Run:
    """The result of a run.

    Attributes:
        begin: The cycle of the first beat in.
        ends: The cycle of each frame's last beat out.
        fills: The most beats in each adjustable FIFO, by the names of links.
        result: Of the simulation.
    """

    begin: int
    ends: tuple[int, ...]
    fills: dict[str, int]
    result: SimulationResult

    @property
    def latency(self) -> int:
        """Return the cycles from the first beat in to the first frame's last beat out."""
        return self.ends[0] - self.begin + 1

    @property
    def settled(self) -> tuple[int, int]:
        """Return the frames and the cycles of the last half, when the pipeline has long been full."""
        half = len(self.ends) // 2
        return half, self.ends[-1] - self.ends[-1 - half]

    @property
    def interval(self) -> float:
        """Return the cycles from one frame to the next in the last half."""
        frames, cycles = self.settled
        return cycles / frames


class Runner:
    """A design, compiled, and what its runs took.

    Args:
        design: What to run.
        inputs: By tensor: (frames, *shape of one), whole numbers; repeated as often as a run needs.
        capacities: Of adjustable FIFOs, by the names of links; without any the design's own FIFOs are run, in the
            simulation with which it is verified later.
        quick: Whether to compile without optimising.

    Attributes:
        simulations: How many runs there were.
        cycles: How many they took.
        seconds: The time of these, without building.

    Raises:
        SimulationError: The tools reject the design.
        ToolError: A tool is missing or too old.
    """

    def __init__(
        self,
        design: Design,
        inputs: Mapping[str, NDArray[Any]],
        capacities: Mapping[str, int] | None = None,
        quick: bool = False,
    ) -> None:
        self.design = design
        self.capacities = dict(capacities or {})
        self.simulations = 0
        self.cycles = 0
        self.seconds = 0.0
        self._simulator = (
            build_simulator(plan_adjustable(design, self.capacities), quick=quick)
            if self.capacities
            else build_watched(design, quick)
        )
        self._words = {
            stream.name: layout_words(stream.layout, stream.bits, inputs[stream.layout.tensor])
            for stream in design.inputs
        }

    def run(
        self,
        frames: int,
        depths: Mapping[str, int] | None = None,
        *,
        stalls: Mapping[str, Stalls] | None = None,
        limit: int | None = None,
    ) -> Run:
        """Run some frames.

        Args:
            frames: How many; two or more where the interval is asked for.
            depths: Of all adjustable FIFOs, by the names of links.
            stalls: When the ends stall; never by default.
            limit: The cycles after which the run is given up; ten times FINN's estimate by default.

        Raises:
            SimulationStalledError: The limit was reached.
            SimulationError: The design reported an error, or a FIFO is deeper than what is modelled.
        """
        design = self.design
        _check_depths(design, depths or {})
        self.simulations += 1
        result = self._simulator.run(
            {one.name: self._frames(one.name, frames * one.layout.beats) for one in design.inputs},
            {one.name: frames * one.layout.beats for one in design.outputs},
            stalls=stalls,
            estimate=frames * design.interval + design.latency,
            limit=limit,
            surplus=design.surplus,
            constant=[one.name for one in design.outputs],
            held={f"{name}{DEPTH}": depth for name, depth in (depths or {}).items()},
        )
        self.cycles += result.cycles
        self.seconds += result.seconds
        spans = frame_spans(design, result, frames)
        fills = {name: result.values[f"{name}{FILL}"] for name in self.capacities}
        return Run(spans[0][0], tuple(end for _, end in spans), fills, result)

    def full(self, run: Run) -> tuple[str, ...]:
        """Return the links whose FIFO reached its capacity in a run, so that it was not as deep as was asked."""
        return tuple(name for name, fill in run.fills.items() if fill >= self.capacities[name])

    def _frames(self, stream: str, beats: int) -> Words:
        words = self._words[stream]
        return np.tile(words, (-(-beats // len(words)), 1))[:beats]


def _check_depths(design: Design, depths: Mapping[str, int]) -> None:
    deep = [
        f"{link.name} ({plural(depths[link.name], 'beat')} of {plural(link.bits, 'bit')})"
        for link in design.links
        if link.name in depths and not is_modelled(depths[link.name], link.bits)
    ]
    if deep:
        raise SimulationError(
            f"FIFOs of more than {DEEPEST:,} beats cannot be sized: {', '.join(deep)}\n"
            "  fold the layers around them so that their rates are closer"
        )
