"""specialize: choose a backend for every hardware layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.graph.well_formed import node_text
from brainsmith.plugin.core import step
from brainsmith.steps.backend_choice import choose_backends
from brainsmith.steps.hardware_nodes import is_hardware, is_layer
from brainsmith.steps.wide_layers import widen_layers

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


@step(description="Choose HLS or RTL for every hardware layer, as the blueprint prefers")
def specialize(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Replace kernels by backends for `cfg.fpga_part` (`SpecializeKernels`), and write why to `report/backends.json`.

    `cfg.kernel_preferences` gives each kernel its backends, the preferred one first. Where a node cannot have the
    first, for its datatypes or the part, the next is taken. Kernels that are not listed get RTL where a backend
    of it can be the node, else HLS. FINN's RTL nodes are set to execute their Python model.

    Raises:
        BuildError: Nodes can have none of the backends that are allowed, or there is no layer.
    """
    cfg._resolve_fpga_part()  # stands here so that a build without a part is refused before its first step
    if not any(map(is_hardware, model.graph.node)):
        raise BuildError(
            "no node of the model is a hardware layer, so the host would compute all of it: "
            f"{', '.join(map(node_text, model.graph.node))}\n  hardware_inference makes layers of what follows a "
            "quantiser, or an input of integers: add a product or a quantiser there, such as a MatMul by quantised "
            "weights"
        )
    return widen_layers(choose_backends(model, cfg, []), is_layer)
