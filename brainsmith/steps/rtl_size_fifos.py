"""rtl_size_fifos: give every stream of the design the smallest FIFO with which it keeps its rate."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.core import step
from brainsmith.steps.design_files import hand_over, take_design
from brainsmith.steps.step_reports import report_file, write_report

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.stitching.design import Design

FILE = "report/rtl_fifos.json"
"""What the step writes, in the output folder."""

SIMULATIONS = 2_000


@step(description="Give every stream the smallest FIFO with which the circuit keeps its rate")
def rtl_size_fifos(
    model: ModelWrapper, cfg: Any, search: bool = True, simulations: int = SIMULATIONS
) -> ModelWrapper:
    """Put FIFOs into the design, write it again, and write `report/rtl_fifos.json` in `cfg.output_dir`.

    A simulation with gauges tells how full FIFOs become; of a large circuit each layer is simulated alone, which tells the
    same. A search by simulation makes them smaller until none can be smaller while the others stay; a circuit whose runs
    are too long for that keeps the depths of the gauges. It runs on random values, and a layer alone on zeros: when a layer
    takes and gives beats does not depend on what they hold.

    The nodes get `inFIFODepths` and `outFIFODepths` as FINN's InsertFIFO reads them: each depth stands at the layer before
    its FIFO, and that of an input at the layer after it.

    Args:
        model: With a stitched design.
        cfg: The build's configuration.
        search: Whether to search; the depths are those of the gauges otherwise.
        simulations: After so many the search ends with what it has.

    Raises:
        SimulationStalledError: The design does not give its frames, with FIFOs of any depth.
        SimulationError: The simulation cannot be built, or reported an error.
        BuildError: There is no design, or an argument is wrong.
        OutputError: The output folder cannot be written.
        ToolError: Verilator or g++ is missing.
    """
    from brainsmith.rtl.sizing.fifos import size_fifos
    from brainsmith.rtl.sizing.shrink import Budget
    from brainsmith.rtl.verification.design_runs import random_frames

    if not isinstance(simulations, int) or simulations < 1:
        what = "a whole number, 1 or more"
        raise BuildError(f"simulations of rtl_size_fifos must be {what}, not {simulations!r}")
    design = take_design(model, cfg)
    report_file(cfg, FILE)  # what cannot be written is reported before anything is simulated
    # When layers take and give beats depends on none of the values.
    done = size_fifos(design, random_frames(design), search=search, budget=Budget(simulations))
    for note in done.notes:
        logging.getLogger(__name__).warning("%s", note)
    write_report(cfg, FILE, done.report())
    _set_attributes(model, done.design)
    return hand_over(model, cfg, done.design)


def _set_attributes(model: ModelWrapper, design: Design) -> None:
    """Note the depths in the nodes."""
    from qonnx.custom_op.registry import getCustomOp

    before = {str(link.target): link for link in design.links if not link.weights}
    behind = {str(link.source): link for link in design.links if not link.weights}
    for node in model.graph.node:
        layer = getCustomOp(node)
        taken = [before.get(f"{node.name}.in{at}_V") for at in range(len(node.input))]
        given = [behind[f"{node.name}.out{at}_V"] for at in range(len(node.output))]
        while taken and taken[-1] is None:
            taken.pop()
        at_inputs = [link.depth if link and not link.source.layer else 0 for link in taken]
        layer.set_nodeattr("inFIFODepths", at_inputs)
        layer.set_nodeattr("outFIFODepths", [link.depth for link in given])
