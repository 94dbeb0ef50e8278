"""specialize: choose a backend for every hardware layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.collections import backends_of
from brainsmith.plugin.core import step
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.steps.preferences import preferred_backends

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.registry import Registry

FINN_LAYERS = "finn.custom_op.fpgadataflow"
BACKEND_TYPES = {f"{FINN_LAYERS}.hls": "hls", f"{FINN_LAYERS}.rtl": "rtl"}


@step(
    name="specialize",
    description="Choose HLS or RTL for every hardware layer, as the blueprint prefers",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
)
def specialize(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Replace kernels by backends for `cfg.fpga_part`.

    `cfg.kernel_preferences` gives each kernel its backend types, the preferred one first. Where a node cannot
    have the first, for its datatypes or the part, the next is taken. Kernels that nothing is said of get what
    FINN's own rules choose. RTL nodes are set to execute their Python model.

    Raises:
        BuildError: A node can have none of the backends that are allowed.
    """
    from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers
    from qonnx.custom_op.registry import getCustomOp
    from qonnx.transformation.general import GiveReadableTensorNames, GiveUniqueNodeNames
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes

    allowed = {}
    for node in model.graph.node:
        wanted = preferred_backends(cfg, node.op_type)
        if node.domain == FINN_LAYERS and wanted:
            getCustomOp(node).set_nodeattr("preferred_impl_style", wanted[0])
            allowed[node.output[0]] = (node.name, node.op_type, wanted)
    model = _specialize_own(model, cfg)
    model = model.transform(SpecializeLayers(cfg._resolve_fpga_part()))
    _check(model, allowed)
    for transform in (GiveUniqueNodeNames(), GiveReadableTensorNames(), InferShapes(), InferDataTypes()):
        model = model.transform(transform)
    for node in model.graph.node:
        if BACKEND_TYPES.get(node.domain) == "rtl":
            getCustomOp(node).set_nodeattr("exec_mode", "cppsim")
    return model


def _check(model: ModelWrapper, allowed: dict[str, tuple[str, str, tuple[str, ...]]]) -> None:
    """Refuse a node that got a backend which the blueprint does not list for its kernel."""
    for node in model.graph.node:
        name, kernel, backends = allowed.get(node.output[0], ("", "", ()))
        got = BACKEND_TYPES.get(node.domain)
        if got is not None and backends and got not in backends:
            raise BuildError(
                f"layer '{name}' ({kernel}) cannot be {' or '.join(backends)}: its datatypes, its attributes "
                f"or the part allow only {got}. Add {got} to the backends of {kernel} in the blueprint"
            )


def _specialize_own(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Replace kernels of other frameworks than FINN; their records state the domain of their nodes."""
    registry: Registry | None = None
    for node in model.graph.node:
        if node.domain.startswith((FINN_LAYERS, "qonnx.")) or node.domain in ("", "ai.onnx"):
            continue
        registry = registry or get_plugin_manager().all_records()[0]
        kernel = _kernel_of(registry, node)
        if kernel is not None:
            backend = _backend_for(registry, kernel, node.name, preferred_backends(cfg, kernel.name))
            node.domain, node.op_type = backend.extra["domain"], _node_type(backend)
    return model


def _node_type(info: PluginInfo) -> str:
    """Return the type of a plugin's nodes: the name of its class."""
    return info.reference.rpartition(":")[2]


def _kernel_of(registry: Registry, node: NodeProto) -> PluginInfo | None:
    """Return the record of the kernel whose node this is; None for other nodes, such as backends."""
    for info in registry.records("kernel"):
        if info.extra.get("domain") == node.domain and _node_type(info) == node.op_type:
            return info
    return None


def _backend_for(
    registry: Registry, kernel: PluginInfo, node_name: str, wanted: tuple[str, ...]
) -> PluginInfo:
    """Return the first backend of a kernel, in the order of the types wanted."""
    backends = [info for info in backends_of(registry, kernel) if "domain" in info.extra]
    if wanted:
        backends = [info for kind in wanted for info in backends if info.backend_type == kind]
    if not backends:
        raise BuildError(
            f"layer '{node_name}': kernel {kernel.name} has no {' or '.join(wanted) or 'HLS or RTL'} backend: "
            "`brainsmith plugins list --type backend` lists them"
        )
    return backends[0]
