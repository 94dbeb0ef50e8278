"""Gauge a design layer by layer: each is simulated alone, and its beats arrive when the layers before it give them.

With FIFOs that take all beats no layer is ever stalled, so a layer sees of the others only when its beats arrive. What a
simulation of the whole design would show is therefore what its layers show one after the other, each with the arrivals
that those before it gave. By induction over the cycles, each layer is in the same state in both: a beat that goes into a
FIFO in cycle a is offered after it in cycle a + 2, or in the one after that in which the beat before it was taken, if that
is later; and the depth of a FIFO is the most beats that went in and were not taken yet.

A layer is simulated until its state, at the end of an interval, is one that it had before, while what arrives repeats.
From then on everything does, for a circuit does in each cycle what its state and its inputs say. So the depths hold for
any number of frames. Of a layer whose state does not return (a pointer may go around once in many frames) as many frames
are simulated as the whole design would run, and the last one is taken to repeat.

Values are left out: all beats, weights and thresholds are 0. When beats move does not follow from them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from brainsmith.errors import SimulationError
from brainsmith.progress import Task
from brainsmith.rtl.simulation.side_by_side import COMPILERS, side_by_side
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.sizing.composition import compose, gauged_depths
from brainsmith.rtl.sizing.gauges import Gauge
from brainsmith.rtl.sizing.kept_timings import kept_timing
from brainsmith.rtl.sizing.traces import SlowerError
from brainsmith.rtl.stitching.sections import cut_out, layer_names, without_names
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.design_runs import SHORT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.simulation.simulation_plan import Memory, SimulationPlan
    from brainsmith.rtl.simulation.simulator import Simulator
    from brainsmith.rtl.sizing.composition import Composed
    from brainsmith.rtl.sizing.traces import LayerTiming, Trace
    from brainsmith.rtl.stitching.design import Design

_FRAMES = 4
"""After which the state of a layer returns, about."""

_ATTEMPTS = 3
_WORD = re.compile(r"(?<![@\w])[0-9A-Fa-f]+")


@dataclass(frozen=True)
class LayerByLayer:
    """The result of gauging layer by layer.

    Attributes:
        gauge: What the whole design's gauges would say.
        fills: The most beats in each FIFO, by the names of links.
        simulations: How many were run.
        cycles: That these took together.
        unsettled: The layers whose state did not return.
    """

    gauge: Gauge
    fills: dict[str, int]
    simulations: int
    cycles: int
    unsettled: tuple[str, ...]


def gauge_layers(design: Design) -> LayerByLayer:
    """Measure how full FIFOs without bounds become while frames come in at the rate at which they go out.

    That rate is the estimate, or what the slowest layer can do, if that is less.

    Args:
        design: Its FIFOs do not matter.

    Raises:
        SimulationStalledError: A layer does not give its frames.
        SimulationError: A layer cannot be built, or reported an error.
        ToolError: A tool is missing or too old.
    """
    interval = max(design.interval, *(link.layout.beats for link in design.links if link.layout))
    simulators = _build_alone(design, interval)
    simulated = _Simulated(design, simulators)
    for _ in range(_ATTEMPTS):
        try:
            found = simulated.gauge(interval)
        except SlowerError as slower:
            interval = slower.interval
            continue
        bits = {link.name: link.bits for link in design.links}
        gauge = Gauge(gauged_depths(found.fills, bits), (), interval, found.latency)
        unsettled = tuple(simulated.unsettled)
        return LayerByLayer(gauge, found.fills, len(simulators), simulated.cycles, unsettled)
    raise SimulationError(
        f"the FIFOs of {design.top!r} cannot be sized: more and more beats wait in them\n"
        "  the layers after them accept beats more slowly than those before them deliver, at any rate of the input"
    )


def plan_alone(design: Design, name: str) -> SimulationPlan:
    """Return the plan of one layer without values: layers that differ in nothing else have the same."""
    alone = without_names(cut_out(design, [name]))
    return plan_design(replace(alone, top="layer", memories=tuple(map(_zeros, alone.memories))))


def _zeros(memory: Memory) -> Memory:
    return replace(memory, text=_WORD.sub("0", memory.text))


def _build_alone(design: Design, interval: int) -> dict[str, Simulator]:
    """Build the simulation of each layer, by its name; different ones side by side."""
    keys, plans = {}, {}
    for name in layer_names(design):
        plan = plan_alone(design, name)
        keys[name] = plan.digest()
        plans[keys[name]] = plan
    quick = _FRAMES * interval < SHORT
    builds = [partial(build_simulator, plan, quick=quick) for plan in plans.values()]
    built = dict(zip(plans, side_by_side("compiling layers", builds, "layers", COMPILERS), strict=True))
    return {name: built[key] for name, key in keys.items()}


class _Simulated:
    """The layers of a design as they are simulated alone, and what that took."""

    def __init__(self, design: Design, simulators: Mapping[str, Simulator]) -> None:
        self.cycles = 0
        self.unsettled: list[str] = []
        self._simulators = simulators
        self._task = Task("gauging layers", len(simulators), "layers")
        self._links = design.links

    def gauge(self, interval: int) -> Composed:
        """Time each layer when all that it takes is known.

        Raises:
            SlowerError: A layer is slower.
        """
        self.cycles, self.unsettled = 0, []
        with Task("gauging layers", len(self._simulators), "layers") as self._task:
            return compose(self._links, list(self._simulators), interval, self._time)

    def _time(
        self, name: str, arrivals: Mapping[str, Trace], given: Mapping[str, int], interval: int
    ) -> LayerTiming:
        # As `without_names` calls them.
        ends = {link: f"end{at}" for at, link in enumerate((*arrivals, *given))}
        taken = {ends[link]: trace for link, trace in arrivals.items()}
        beats = {ends[link]: count for link, count in given.items()}
        try:
            timing = kept_timing(name, self._simulators[name], taken, beats, interval)
        except SimulationError as error:
            raise type(error)(f"layer {name!r} alone: {error}") from error
        self._task.add()
        self.cycles += timing.cycles
        if not timing.repeats:
            self.unsettled.append(name)
        links = {end: link for link, end in ends.items()}
        fills = {links[end]: fill for end, fill in timing.fills.items()}
        traces = {links[end]: trace for end, trace in timing.given.items()}
        return replace(timing, fills=fills, given=traces)
