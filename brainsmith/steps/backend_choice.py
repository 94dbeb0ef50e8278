"""Which backend each layer gets, and the report of why: for the steps that make kernels' nodes backends'."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
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
    model, chosen = _choose(model, cfg)
    layers = [*earlier, *(asdict(choice) for choice in chosen)]
    write_report(cfg, REPORT, {"layers": layers})
    return model


def chosen_again(model: ModelWrapper, cfg: Any, at: int) -> ModelWrapper:
    """Choose the RTL backend of one layer again, now that it is folded, and write the report anew.

    Args:
        model: Specialised; not changed.
        cfg: As for `choose_backends`.
        at: The layer's place among the nodes.

    Raises:
        BuildError: No RTL backend that is allowed can have its folding.
    """
    from qonnx.core.modelwrapper import ModelWrapper

    asked = ModelWrapper(model.model, make_deepcopy=True)
    node = asked.graph.node[at]
    node.op_type, node.domain = node.op_type.removesuffix("_rtl"), node.domain.removesuffix(".rtl")
    found, chosen = _choose(asked, cfg)
    if chosen[0].backend_type != "rtl":
        raise BuildError(f"layer {node.name!r}: no RTL backend that is allowed can have its folding")
    pairs = zip(model.graph.node, found.graph.node, strict=True)
    names = {before.name: after.name for before, after in pairs if before.name != model.graph.node[at].name}
    others = [layer for layer in chosen_before(cfg) if layer["layer"] in names]
    layers = [*({**one, "layer": names[one["layer"]]} for one in others), *map(asdict, chosen)]
    order = [node.name for node in found.graph.node]
    write_report(cfg, REPORT, {"layers": sorted(layers, key=lambda layer: order.index(layer["layer"]))})
    return found


def _choose(model: ModelWrapper, cfg: Any) -> tuple[ModelWrapper, tuple[Any, ...]]:
    """Specialise what is not yet, infer names and datatypes anew, and return what was chosen, too."""
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
    return model, chosen.choices


def chosen_before(cfg: Any) -> list[dict[str, Any]]:
    """Return what the report says of the layers so far; nothing where there is none."""
    found = read_report(Path(cfg.output_dir) / REPORT)
    return [] if found is None else list(found["layers"])
