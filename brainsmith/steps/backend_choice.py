"""Which backend each layer gets, and the report of why: for the steps that make kernels' nodes backends'."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.info import FINN_RTL
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.preferences import kernel_preferences
from brainsmith.steps.step_reports import read_report, write_report

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

REPORT = "report/backends.json"
"""Which backend each layer has, and why, in the output folder."""


def choose_backends(model: ModelWrapper, cfg: Any, earlier: list[dict[str, Any]]) -> ModelWrapper:
    """Specialise what is not yet, infer names and datatypes anew, and write the report.

    Args:
        model: With nodes of kernels; not changed.
        cfg: Says the part, the preferences and where the report is.
        earlier: What the report has of the other layers.

    Raises:
        BuildError: Nodes can have none of the backends that are allowed.
    """
    from qonnx.custom_op.registry import getCustomOp
    from qonnx.transformation.general import GiveUniqueNodeNames
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes

    chosen = own_transform("SpecializeKernels")(cfg._resolve_fpga_part(), kernel_preferences(cfg))
    readable = own_transform("GiveReadableTensorNames")()
    model = transformed(model, chosen, GiveUniqueNodeNames(), readable, InferShapes(), InferDataTypes())
    for node in model.graph.node:
        if node.domain == FINN_RTL:
            getCustomOp(node).set_nodeattr("exec_mode", "cppsim")
    for choice in chosen.choices:
        print(choice)
    layers = [*earlier, *(asdict(choice) for choice in chosen.choices)]
    write_report(cfg, REPORT, {"layers": layers})
    return model


def chosen_before(cfg: Any) -> list[dict[str, Any]]:
    """Return what the report says of the layers so far; nothing where there is none."""
    found = read_report(Path(cfg.output_dir) / REPORT)
    return [] if found is None else list(found["layers"])
