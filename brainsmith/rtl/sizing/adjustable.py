"""A design whose FIFOs have their depths as inputs: one simulation for all depths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.sizing.fifo_hardware import held
from brainsmith.rtl.stitching.top_module import plan_design

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
    from brainsmith.rtl.stitching.design import Design

SOURCE = Path(__file__).with_name("adjustable_fifo.sv")

UNBOUNDED = 0
"""The depth of a FIFO that is a gauge: it takes all beats, up to its capacity."""

_FRAMES = 2
_SPARE = 64


def plan_adjustable(design: Design, capacities: Mapping[str, int]) -> SimulationPlan:
    """Return the plan of a design with adjustable FIFOs; the depths that it has do not matter.

    Args:
        design: What is in it.
        capacities: In beats, powers of two, by the names of all links that may have a FIFO.
    """
    fifo = RtlSource(SOURCE.name, SOURCE.read_text(encoding="utf-8"))
    return plan_design(design, capacities=capacities, more=(fifo,))


def capacities_of(design: Design, depths: Mapping[str, int]) -> dict[str, int]:
    """Return what FIFOs need that are never deeper than some depths, by the names of links.

    Args:
        design: Says how wide they are.
        depths: In beats, by the names of links.
    """
    bits = {link.name: link.bits for link in design.links}
    return {name: 1 << (held(depth, bits[name]) + _SPARE - 1).bit_length() for name, depth in depths.items()}


def usual_capacities(design: Design) -> dict[str, int]:
    """Return what FIFOs need at the steady rate, by the names of links: two frames, and what is rounded up."""
    return {
        link.name: 1 << (_FRAMES * link.layout.beats + _SPARE - 1).bit_length()
        for link in design.links
        if link.layout is not None
    }
