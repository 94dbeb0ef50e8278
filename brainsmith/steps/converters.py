"""The width converters between layers that are folded differently: their backends, and where they will be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.steps.hardware_nodes import has_backend, is_layer
from brainsmith.steps.own_transforms import own_transform
from brainsmith.steps.preferences import kernel_preferences

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

KERNEL = "StreamingDataWidthConverter"
"""FINN's kernel of width converters."""


def choose_converters(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Give the converters of a model their backends: what is preferred for their kernel, else the first that fits.

    What is preferred for all kernels does not mean them, since a circuit of RTL needs RTL.
    """
    listed = {
        key: names for key, names in kernel_preferences(cfg).items() if key.rpartition(":")[2] == KERNEL
    }
    return model.transform(own_transform("SpecializeKernels")(cfg._resolve_fpga_part(), listed))


def with_converters(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Return a copy with the converters that `rtl_codegen` will insert, by their later names.

    A model that cannot be stitched yet, because a layer has no backend or a tensor feeds several, gets none.
    """
    from finn.transformation.fpgadataflow.insert_dwc import InsertDWC
    from qonnx.core.modelwrapper import ModelWrapper

    copy = ModelWrapper(model.model, make_deepcopy=True)
    layers = [node for node in copy.graph.node if is_layer(node)]
    shared = any(len(copy.find_consumers(tensor)) > 1 for node in layers for tensor in node.output)
    if shared or not all(has_backend(node) for node in layers):
        return copy
    return choose_converters(copy.transform(InsertDWC()), cfg)
