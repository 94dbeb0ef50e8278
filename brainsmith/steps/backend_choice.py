"""Which backend each layer gets, and the report of why: for the steps that make kernels' nodes backends'."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.info import FINN_RTL
from brainsmith.steps.own_transforms import own_transform
from brainsmith.steps.preferences import kernel_preferences

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
    for transform in (
        chosen,
        GiveUniqueNodeNames(),
        own_transform("GiveReadableTensorNames")(),
        InferShapes(),
        InferDataTypes(),
    ):
        model = model.transform(transform)
    for node in model.graph.node:
        if node.domain == FINN_RTL:
            getCustomOp(node).set_nodeattr("exec_mode", "cppsim")
    for choice in chosen.choices:
        print(choice)
    file = Path(cfg.output_dir) / REPORT
    file.parent.mkdir(parents=True, exist_ok=True)
    layers = [*earlier, *(asdict(choice) for choice in chosen.choices)]
    file.write_text(json.dumps({"layers": layers}, indent=2) + "\n", encoding="utf-8")
    return model


def chosen_before(cfg: Any) -> list[dict[str, Any]]:
    """Return what the report says of the layers so far; nothing where there is none."""
    file = Path(cfg.output_dir) / REPORT
    found: list[dict[str, Any]] = (
        json.loads(file.read_text(encoding="utf-8"))["layers"] if file.is_file() else []
    )
    return found
