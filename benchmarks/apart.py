"""What the layers of a design need of a part, each synthesised alone: where the whole design would take hours."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def synthesised_apart(model: Path, folder: Path, part: str) -> dict[str, Any]:
    """Return a report as `rtl_synthesise` writes it, in which the whole is the sum of the layers, without FIFOs.

    Args:
        model: The last one of a build that went to `rtl_stitch`.
        folder: Its output.
        part: The FPGA.
    """
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.rtl.stitching.design_folder import read_design
    from brainsmith.rtl.synthesis.cells import Resources
    from brainsmith.rtl.synthesis.fpga_families import family_of
    from brainsmith.rtl.synthesis.synthesis_report import Estimate, SynthesisReport
    from brainsmith.rtl.synthesis.synthesise import synthesise_layers
    from brainsmith.rtl.synthesis.yosys import find_yosys
    from brainsmith.steps.design_files import FOLDER
    from brainsmith.steps.resources import estimated_resources

    built = ModelWrapper(str(model))
    estimates = {
        node.name: Estimate(**estimated_resources(getCustomOp(node), part, built))
        for node in built.graph.node
    }
    layers = synthesise_layers(read_design(folder / FOLDER), part, estimates=estimates)
    return SynthesisReport(
        part=part,
        family=family_of(part).name,
        tool=find_yosys(),
        used=sum((layer.used for layer in layers), Resources()),
        layers=layers,
        fifos=(),
        notes=("the sum of the layers, without FIFOs",),
        seconds=sum(layer.seconds for layer in layers),
        peak_mb=0,
    ).to_plain()
