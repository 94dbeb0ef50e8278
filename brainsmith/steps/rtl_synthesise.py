"""rtl_synthesise: say what the circuit needs of the part, from a real synthesis."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.design_files import take_design
from brainsmith.steps.resources import estimated_resources
from brainsmith.steps.step_reports import write_report

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.synthesis.synthesis_report import Estimate

_BACKENDS = "brainsmith.backends"

FILE = "report/rtl_synthesis.json"
"""What the step writes, in the output folder."""


@step(
    description="Synthesise every layer and the whole design with Yosys, for LUTs, flip-flops, block RAMs and DSPs"
)
def rtl_synthesise(model: ModelWrapper, cfg: Any, place: str = "") -> ModelWrapper:
    """Write `report/rtl_synthesis.json` in `cfg.output_dir`: what `cfg.fpga_part` must have for the design.

    Each layer alone (with the memory of its weights) beside its estimate, each FIFO alone, and all of it. And the clock
    that the slowest path allows by estimate, with a warning where it is too slow, or lies in a core of this project.
    What was synthesised before, of the same content, costs nothing. Estimates that were calibrated with another version of
    Yosys are noted, with how far its figures are from that one's.

    Args:
        model: Generated and stitched, its FIFOs sized.
        cfg: Gives the output folder, the part and the clock.
        place: Where the whole design is placed and routed besides, for a clock that it really reaches: `ecp5`, or one
            of `ecp5-12k`, `-25k`, `-45k`, `-85k`. Empty: nowhere.

    Raises:
        BuildError: There is no design, the part is of no known family, Yosys refuses a layer, or the design does not fit
            where it is placed.
        OutputError: The file cannot be written.
        ToolError: pyosys is missing, or nextpnr where the design is placed.
    """
    from brainsmith.rtl.resource_models.drift import drift_note
    from brainsmith.rtl.synthesis import placement
    from brainsmith.rtl.synthesis.clock import estimate_clock
    from brainsmith.rtl.synthesis.synthesise import synthesise

    part = cfg._resolve_fpga_part()
    design = take_design(model, cfg)
    if place:
        placement.check(place)
    found = synthesise(design, part, estimates=_estimates(model, part))
    clock = estimate_clock(found, cfg.synth_clk_period_ns, _own_layers(model))
    report = {**found.to_plain(), "clock": clock.to_plain() if clock is not None else None}
    note = drift_note(report["tool"])
    report["notes"] += [note] if note else []
    if place:
        report["place"] = asdict(placement.place(design, place, cfg.synth_clk_period_ns))
    write_report(cfg, FILE, report)
    return model


def _own_layers(model: ModelWrapper) -> set[str]:
    """Return the layers whose backends are this project's."""
    from qonnx.custom_op.registry import getCustomOp

    layers = [(node.name, type(getCustomOp(node)).__module__) for node in model.graph.node]
    return {name for name, module in layers if module.startswith(f"{_BACKENDS}.")}


def _estimates(model: ModelWrapper, part: str) -> dict[str, Estimate]:
    """Return the estimates by layer; those of `report/estimates.json`, and of the width converters too."""
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.rtl.synthesis.synthesis_report import Estimate

    return {
        node.name: Estimate(**estimated_resources(getCustomOp(node), part, model))
        for node in model.graph.node
    }
