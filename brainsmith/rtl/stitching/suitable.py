"""Whether a model can become one design: said of all its layers at once, before anything is generated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError, BuildError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.collections import backends_of
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.plugin.precedence import split_name
from brainsmith.rtl.cores.finn_choice import DOTS, FRAMEWORK, dot_length, finn_supports, takes_all
from brainsmith.rtl.cores.frame_cycles import WINDOW
from brainsmith.rtl.cores.node_support import SUPPORTED
from brainsmith.rtl.cores.window_faults import why_wrong
from brainsmith.rtl.stitching.orders import check_windows
from brainsmith.shown import typed_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry


def is_rtl(node: NodeProto) -> bool:
    """Tell whether a node is a layer that is generated as RTL: FINN's, or a plugin's of another domain."""
    return bool(node.domain.rpartition(".")[2] == "rtl")


def check_layers(model: ModelWrapper, part: str = "") -> None:
    """Refuse a model with layers that cannot be stitched.

    Args:
        model: Specialised.
        part: The FPGA, by which FINN's rules decide what is advised.

    Raises:
        BuildError: A node is not an RTL layer, or a tensor feeds several; all that are so, and what to do.
    """
    others = [node for node in model.graph.node if not is_rtl(node)]
    if len(others) > 1 and not any(
        node.domain.rpartition(".")[2] in ("rtl", "hls") for node in model.graph.node
    ):
        raise BuildError(
            f"the model has no hardware layers: none of its {len(others)} nodes is one\n"
            "  the steps hardware_inference and specialize make layers of operators, and must stand before this one"
        )
    if others:
        advice = ((node, _what_to_do(node, model, part)) for node in others)
        lines = "".join(f"\n  {node.name} ({node.op_type}): {what}" for node, what in advice)
        unequal = _joins_of_unequal_scales(model, others)
        if unequal:
            lines += (
                f"\n  the streams that meet in {', '.join(unequal)} have different scales, so they can only be "
                "added as floats: quantise all that is added there with one scale; then no multiplications and shuffles "
                "are needed before it"
            )
        raise BuildError(f"the model cannot become a circuit, because these layers have no RTL:{lines}")
    shared = [tensor for node in model.graph.node for tensor in node.output if _readers(model, tensor) > 1]
    if shared:
        raise BuildError(
            f"a tensor can feed one layer only; these feed several: {', '.join(shared)}\n"
            "  put a layer there that copies its stream, DuplicateStreams: the step hardware_inference does, and so does "
            "the transform finn:InferDuplicateStreamsLayer, before specialize"
        )


def _joins_of_unequal_scales(model: ModelWrapper, layers: list[NodeProto]) -> list[str]:
    """Name the sums of two streams of which a multiplication by a constant, without RTL, brings one to a scale."""
    found = []
    for node in layers:
        if not node.op_type.startswith(("ElementwiseAdd", "ElementwiseSub")):
            continue
        before = [model.find_producer(name) for name in node.input]
        scaled = [each for each in before if each is not None and each.op_type == "ElementwiseMul_hls"]
        constant = any(model.get_initializer(each.input[1]) is not None for each in scaled)
        if None not in before and constant:
            found.append(node.name)
    return found


def check_attributes(nodes: Mapping[str, Any]) -> None:
    """Refuse layers whose attributes give wrong results, or need what a design has not.

    Args:
        nodes: QONNX's instances of the layers, by their names.

    Raises:
        BuildError: All layers that are so.
    """
    wrong = [name for name, node in nodes.items() if dot_length(node) and takes_all(node)]
    lower = [name for name in wrong if dot_length(nodes[name]) > 1]
    if lower:
        raise BuildError(
            f"SIMD must be less than {_limits(nodes, lower)}, not equal to it, in {', '.join(lower)}: FINN's "
            "matrix-vector unit loses results then under back-pressure at its output\n  fold these layers with a lower SIMD"
        )
    if wrong:
        raise BuildError(
            f"{', '.join(wrong)} cannot be built: a result is one product there ({_limits(nodes, wrong)} is 1), so one "
            "may come in every cycle, and FINN's matrix-vector unit loses results then under back-pressure at its output; "
            "no folding avoids it\n  make the layer wider, or end the model before it"
        )
    pumped = [
        name
        for name, node in nodes.items()
        for attribute in ("pumpedCompute", "pumpedMemory")
        if attribute in node.get_nodeattr_types() and node.get_nodeattr(attribute)
    ]
    if pumped:
        raise BuildError(
            f"pumpedCompute and pumpedMemory must be 0 in {', '.join(dict.fromkeys(pumped))}: a stitched design "
            "has no clock of twice the rate"
        )
    windows = {name: node for name, node in nodes.items() if node.onnx_node.op_type == WINDOW}
    lossy = {name: why for name, node in windows.items() if (why := why_wrong(node))}
    if lossy:
        lines = "".join(f"\n  {name}: a window {why}" for name, why in lossy.items())
        raise BuildError(f"FINN's circuits of these sliding windows lose values:{lines}")
    check_windows(nodes)


def _limits(nodes: Mapping[str, Any], names: list[str]) -> str:
    """Name what SIMD must stay below in some layers."""
    kinds = {nodes[name].onnx_node.op_type.removesuffix("_rtl") for name in names}
    return " or ".join(text for kind, (_, text) in DOTS.items() if kind in kinds)


def _what_to_do(node: NodeProto, model: ModelWrapper, part: str) -> str:
    """Say what could take the place of a layer without RTL: a backend that is registered, or another form."""
    if node.domain.rpartition(".")[2] != "hls":
        return (
            "it is not a hardware layer, and the host cannot compute it between layers that are; let a transform absorb "
            "it, or end the model before it"
        )
    registry = get_plugin_manager().all_records()[0]
    kernel = _kernel_of(registry, node)
    if kernel is None:
        return (
            "its kernel is not known, so no RTL backend can take its place; remove the layer from the model"
        )
    rtl = [info for info in backends_of(registry, kernel) if info.backend_type == "rtl"]
    refusals = {info.qualified: _refusal(info, kernel, node, model, part) for info in rtl}
    found = [name for name, reason in refusals.items() if not reason]
    if rtl and not found:
        refused = (f"{name}, which does not support this layer: {why}" for name, why in refusals.items())
        reasons = "; ".join(refused)
        return f"kernel {kernel.name} has the RTL backend {reasons}"
    if found:
        return (
            f"kernel {kernel.name} has the RTL backend {', '.join(found)}: list it in the blueprint, hw_compiler: "
            f"kernels: [{{kernel: {kernel.qualified}, backends: [rtl]}}]; specialize chooses it "
            "if it supports this layer, and gives the reason if not"
        )
    return (
        f"HLS is its only backend; no RTL backend of kernel {kernel.name} is registered. Remove the layer from the "
        f'model, or register one: @backend(kernel="{kernel.qualified}", backend_type="rtl", domain=..., op_type=...)'
    )


def _refusal(backend: PluginInfo, kernel: PluginInfo, node: NodeProto, model: ModelWrapper, part: str) -> str:
    """Return why a backend cannot be a layer: it says so itself, or of FINN's own FINN's rules do."""
    from qonnx.custom_op.registry import getCustomOp

    try:
        if backend.framework == FRAMEWORK:
            return finn_supports(model, _unspecialised(node, kernel), "rtl", part).reason
        supports: Any = getattr(backend.load(), "supports", None)
        answer = SUPPORTED if supports is None else supports(getCustomOp(node))
    except BrainsmithError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  (a plugin may raise anything; it is the reason)
        return f"its `supports` raised {typed_text(error)}"
    return "" if answer else str(getattr(answer, "reason", "")) or "it does not say why"


def _unspecialised(node: NodeProto, kernel: PluginInfo) -> NodeProto:
    """Return a layer as its kernel's node, of which FINN's rules are asked."""
    asked = type(node)()
    asked.CopyFrom(node)
    asked.op_type, asked.domain = kernel.name, node.domain.rpartition(".")[0]
    return asked


def _kernel_of(registry: Registry, node: NodeProto) -> PluginInfo | None:
    """Return the kernel whose backend a node is; None if none states it."""
    for info in registry.records("backend"):
        if info.extra.get("domain") == node.domain and op_type_of(info) == node.op_type:
            kernels = registry.providers("kernel", split_name(info.kernel or "")[1])
            return next((kernel for kernel in kernels if info in backends_of(registry, kernel)), None)
    return None


def _readers(model: ModelWrapper, tensor: str) -> int:
    """Count what takes a tensor: layers, and the model's outputs."""
    outputs = [value.name for value in model.graph.output]
    return sum(list(node.input).count(tensor) for node in model.graph.node) + outputs.count(tensor)
