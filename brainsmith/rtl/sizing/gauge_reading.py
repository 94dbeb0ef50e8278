"""Read a design's gauges, in one simulation of the whole or layer by layer, whichever takes less."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from brainsmith.errors import SimulationError
from brainsmith.rtl.sizing.adjustable import usual_capacities
from brainsmith.rtl.sizing.gauges import enough_frames, gauge
from brainsmith.rtl.sizing.layer_by_layer import gauge_layers
from brainsmith.rtl.sizing.sizing_runs import Runner
from brainsmith.rtl.verification.design_runs import estimated_cycles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from brainsmith.rtl.sizing.gauges import Gauge
    from brainsmith.rtl.stitching.design import Design

_USUAL_RUNS = 40
_QUICK = 1_500_000
"""Cycles of all runs together, by the estimate, that take less time than optimising the simulation of the whole."""

_LONG = 10_000_000
"""Cycles of a run of the whole, by the estimate, that take more time than compiling each layer alone: the run slows down
with the number of layers, as compiling them does. As measured, in seconds of one processor, compiling and running the whole
against its layers: ResNet8, 2.3 million, 29 against 29 (a search needs the whole in any case); the full CNV 1W1A, 6.8
million, 24 against 41; the full CNV 2W2A, 7 million, 27 against 57. The full ResNet-18 has 180 million."""

_ATTEMPTS = 3


@dataclass
class Gauged:
    """A design whose gauges were read, and what was simulated of it.

    Attributes:
        gauge: What they say.
        runner: Of the whole design; None where it was simulated layer by layer, and not searched.
        layers: How many layers were simulated alone, and for how many cycles together.
        unsettled: Those of them whose state did not return, by name: what they show is shown for the frames that were run.
    """

    gauge: Gauge
    runner: Runner | None = None
    layers: tuple[int, int] = (0, 0)
    unsettled: tuple[str, ...] = ()

    @property
    def simulations(self) -> int:
        """How many were run."""
        return self.layers[0] + (self.runner.simulations if self.runner else 0)

    @property
    def cycles(self) -> int:
        """How many those took."""
        return self.layers[1] + (self.runner.cycles if self.runner else 0)


def read_gauges(design: Design, inputs: Mapping[str, NDArray[Any]], search: bool) -> Gauged:
    """Read the gauges of a design: of the whole where that is short, layer by layer elsewhere.

    Args:
        design: Its FIFOs do not matter.
        inputs: By tensor: (frames, *shape of one), whole numbers.
        search: Whether a search will follow, with many runs of the whole.

    Raises:
        SimulationStalledError: The design does not give its frames, with FIFOs of any depth.
        SimulationError: It reported an error, or more and more beats wait at any rate.
    """
    runs = _USUAL_RUNS if search else 1
    frames = enough_frames(ceil(design.latency / design.interval))
    cycles = estimated_cycles(design, frames)
    if cycles < _LONG:
        runner, gauged = _gauged_whole(design, inputs, runs * cycles < _QUICK)
        return Gauged(gauged, runner)
    found = gauge_layers(design)
    return Gauged(found.gauge, None, (found.simulations, found.cycles), found.unsettled)


def _gauged_whole(design: Design, inputs: Mapping[str, NDArray[Any]], quick: bool) -> tuple[Runner, Gauge]:
    """Build the design with adjustable FIFOs, as large as they must be, and measure it."""
    capacities = usual_capacities(design)
    for _ in range(_ATTEMPTS):
        runner = Runner(design, inputs, capacities, quick)
        gauged = gauge(runner)
        if not gauged.full:
            return runner, gauged
        capacities |= {name: 8 * capacities[name] for name in gauged.full}
    names = ", ".join(gauged.full)
    raise SimulationError(
        f"the FIFOs of {design.top!r} cannot be sized: more and more beats wait in {names}\n"
        "  the layers after them accept beats more slowly than those before them deliver, at any rate of the input"
    )
