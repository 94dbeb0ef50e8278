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
    from collections.abc import Mapping, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


REPORT = "report/backends.json"
"""Which backend each layer has, and why, in the output folder."""

_REPLACED = ("MVAU_rtl",)
"""FINN's layers in whose place another backend may compute with LUTs what it computes with DSP slices."""


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


def other_backends(model: ModelWrapper, cfg: Any, node: NodeProto) -> list[tuple[str, NodeProto]]:
    """Return the RTL backends that may be a matrix-vector unit in place of FINN's: their names, and the node as theirs.

    Args:
        model: Holds the node's constants.
        cfg: Says the part, and which backends are allowed.
        node: Of a layer.
    """
    if node.domain != FINN_RTL or node.op_type not in _REPLACED:
        return []
    choosing = own_transform("SpecializeKernels")(cfg._resolve_fpga_part(), kernel_preferences(cfg))
    found: list[tuple[str, NodeProto]] = choosing.others(model, _as_kernel(node), "rtl")
    return found


def _as_kernel(node: NodeProto) -> NodeProto:
    """Return a node of FINN's RTL as one of its kernel's."""
    kernel = type(node)()
    kernel.CopyFrom(node)
    kernel.op_type, kernel.domain = node.op_type.removesuffix("_rtl"), node.domain.removesuffix(".rtl")
    return kernel


def chosen_again(model: ModelWrapper, cfg: Any, places: Sequence[int], backend: str = "") -> ModelWrapper:
    """Choose the RTL backend of layers of one kernel again, now that they are folded, and write the report anew.

    Args:
        model: Specialised; not changed.
        cfg: As for `choose_backends`.
        places: Of the layers among the nodes.
        backend: The qualified name of the one to take; empty for the first that can have the folding.

    Raises:
        BuildError: No RTL backend that is allowed can have the folding of one.
    """
    from qonnx.core.modelwrapper import ModelWrapper

    asked = ModelWrapper(model.model, make_deepcopy=True)
    nodes = [asked.graph.node[at] for at in places]
    for node in nodes:
        node.CopyFrom(_as_kernel(node))
    preferences = {f"finn:{nodes[0].op_type}": (backend,)} if backend else {}
    found, chosen = _choose(asked, cfg, preferences)
    for node, choice in zip(nodes, chosen, strict=True):
        if choice.backend_type != "rtl":
            raise BuildError(f"layer {node.name!r}: no RTL backend that is allowed can have its folding")
    again = {model.graph.node[at].name for at in places}
    pairs = zip(model.graph.node, found.graph.node, strict=True)
    names = {before.name: after.name for before, after in pairs if before.name not in again}
    others = [layer for layer in chosen_before(cfg) if layer["layer"] in names]
    layers = [*({**one, "layer": names[one["layer"]]} for one in others), *map(asdict, chosen)]
    order = [node.name for node in found.graph.node]
    write_report(cfg, REPORT, {"layers": sorted(layers, key=lambda layer: order.index(layer["layer"]))})
    return found


def _choose(
    model: ModelWrapper, cfg: Any, preferences: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[ModelWrapper, tuple[Any, ...]]:
    """Specialise what is not yet, infer names and datatypes anew, and return what was chosen, too."""
    from qonnx.custom_op.registry import getCustomOp
    from qonnx.transformation.general import GiveUniqueNodeNames
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes

    listed = {**kernel_preferences(cfg), **(preferences or {})}
    chosen = own_transform("SpecializeKernels")(cfg._resolve_fpga_part(), listed)
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
