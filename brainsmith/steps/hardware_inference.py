"""hardware_inference: replace operators by hardware layers (kernels)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.plugin.collections import means_kernel
from brainsmith.plugin.core import step
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.steps.bit_widths import minimise_bit_widths
from brainsmith.steps.conversion_limits import check_limits
from brainsmith.steps.conversions import (
    ELEMENTWISE,
    ELEMENTWISE_TRANSFORM,
    OTHERS,
    PRODUCTS,
    STREAMS,
    THRESHOLDS,
    Conversion,
)
from brainsmith.steps.hardware_nodes import is_hardware, nodes_between
from brainsmith.steps.host_work import warn_of_host_work
from brainsmith.steps.integer_ranges import annotate_integer_ranges
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.preferences import listed_kernels, prefers_rtl
from brainsmith.steps.scales_behind_products import integer_products
from brainsmith.steps.shuffles import shuffle_on_chip
from brainsmith.steps.unit_transposes import transposes_to_reshapes
from brainsmith.steps.unsigned_thresholds import ClipThresholdsOfUnsigned
from brainsmith.steps.unsupported_nodes import why_unsupported
from brainsmith.steps.wide_layers import widen_layers, without_wide_casts
from brainsmith.transforms.integer.host_part import OPERATORS as HOST_OPERATORS

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry

NO_BITS = 1 << 20
"""FINN makes a Requant of thresholds of so many bits: none has. Its factor and summand would only be near them."""

EXACT = ("brainsmith:MatMul",)
"""Kernels that compute what FINN has no layer for."""

APPROXIMATE = ("brainsmith:Softmax", "brainsmith:LayerNorm")
"""Kernels of integers that approximate an operator of floats."""


@step(description="Infer hardware layers: those of the blueprint's kernels first, then FINN's")
def hardware_inference(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Turn a streamlined model into hardware layers with minimal bit widths.

    The kernels that `cfg.kernel_preferences` names are inferred first, with the transforms that state them
    (`@transform(kernel=...)`), then whatever FINN can. Products of two computed matrices of integers are MatMul kernels
    also if that is not named. So are Softmax and layer normalisations kernels of integers, if `cfg.approximate` says
    that this step may approximate; else, where no kernel for layer normalisations is named, they are LayerNorm kernels
    of floats. Scales that were left before matrix products, because several nodes read
    them, move after these first, so the products are of integers. Thresholds stay layers of their own if RTL is
    preferred for MVAU or the builder says so (`cfg.standalone_thresholds`, by default True). A layout
    Transpose in front or at the end, and a float Mul or Add at the end, stay for the host; more than that is a warning.

    Raises:
        ModelError: A node between hardware layers could not be converted.
    """
    registry = get_plugin_manager().registry_with_finn()
    listed = _with_implied(listed_kernels(cfg, registry), cfg, registry)
    model = _by_name(model, registry, "qonnx:RemoveUnusedNodes")
    model = annotate_integer_ranges(integer_products(without_wide_casts(model)))
    model = transformed(model, *(transform() for transform in _kernel_transforms(registry, listed)))
    if not any(kernel.name == "LayerNorm" for kernel in listed):
        # FINN has no layer for most normalisations. A kernel that approximates is one that the blueprint names.
        model = model.transform(own_transform("InferLayerNorm")(fraction_bits=None))
    standalone = prefers_rtl(cfg, registry, "finn:MVAU") or getattr(cfg, "standalone_thresholds", True)
    first = (*THRESHOLDS, *PRODUCTS) if standalone else (*PRODUCTS, *THRESHOLDS)
    model = model.transform(own_transform("InferCrop")(gathers=False))
    model = _convert(model, (*first, *STREAMS), registry)
    model = _convert_elementwise(model, registry)
    model = _convert(model, OTHERS, registry)
    model = _tidy(model, registry, listed)
    _check_nothing_between(model)
    _labels_are_floats(model)
    model = minimise_bit_widths(model.transform(ClipThresholdsOfUnsigned()), cfg)
    model = widen_layers(model, is_hardware)
    # Conversions name their tensors at random; named anew, the same model gives the same bytes.
    model = _by_name(model, registry, "qonnx:GiveUniqueNodeNames", "brainsmith:GiveReadableTensorNames")
    warn_of_host_work(model, is_hardware)
    return model


def _with_implied(listed: list[PluginInfo], cfg: Any, registry: Registry) -> list[PluginInfo]:
    """Add the kernels that need not be named: exact ones, and where the step may approximate, those that do."""
    allowed = "hardware_inference" in (getattr(cfg, "approximate", None) or {})
    names = EXACT + (APPROXIMATE if allowed else ())
    implied = [registry.resolve("kernel", name) for name in names]
    return [*listed, *(kernel for kernel in implied if kernel not in listed)]


def _by_name(model: ModelWrapper, registry: Registry, *names: str) -> ModelWrapper:
    """Apply transforms that take no arguments."""
    return transformed(model, *(registry.get("transform", name)() for name in names))


def _kernel_transforms(registry: Registry, kernels: list[PluginInfo]) -> list[Any]:
    """Load the transforms that infer the blueprint's kernels; FINN's are in the tables already.

    Those of matrix products come first: what a product gives tells the kernels after it which integers they take.
    """
    found = []
    for info in registry.records("transform"):
        meant = [kernel for kernel in kernels if info.kernel and means_kernel(registry, info, kernel)]
        if info.framework != "finn" and meant:
            found.append((not any("matrix" in kernel.tags for kernel in meant), info.load()))
    return [loaded for _, loaded in sorted(found, key=lambda entry: entry[0])]


def _convert(model: ModelWrapper, conversions: tuple[Conversion, ...], registry: Registry) -> ModelWrapper:
    """Apply the conversions whose operators occur before the host's; the others are not even imported."""
    for conversion in conversions:
        nodes = [node for node in model.graph.node if node.op_type in conversion.op_types]
        if all(_belongs_to_host(model, node) for node in nodes):
            continue
        check_limits(model, conversion.op_types)
        transform = registry.get("transform", conversion.transform)
        if conversion.transform == "finn:InferRequantLayer":
            if _quantise_integers(model):
                model = model.transform(transform(bitwidth_threshold=NO_BITS))
        else:
            model = model.transform(transform())
    return model


def _quantise_integers(model: ModelWrapper) -> bool:
    """Tell whether all quantisers that are left get integers: FINN's Requant rounds ties up, QONNX to even."""
    return all(
        model.get_tensor_datatype(node.input[0]).is_integer()
        for node in model.graph.node
        if node.op_type == "Quant"
    )


def _convert_elementwise(model: ModelWrapper, registry: Registry) -> ModelWrapper:
    """Convert element-wise operators, except float ones before or after which there is only the host."""
    if not any(node.op_type in ELEMENTWISE for node in model.graph.node):
        return model
    transform = registry.get("transform", ELEMENTWISE_TRANSFORM)
    check_limits(model, ELEMENTWISE)
    return model.transform(
        transform(
            _filter=lambda model, node: (
                not (_belongs_to_host(model, node) or _gets_floats_of_inputs(model, node))
            )
        )
    )


def _gets_floats_of_inputs(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node computes with floats of the network's inputs alone: the host quantises them."""
    varying = [name for name in node.input if name and model.get_initializer(name) is None]
    if any(model.get_tensor_datatype(name).is_integer() for name in varying):
        return False
    makers = [model.find_producer(name) for name in varying]
    return all(maker is None or _gets_floats_of_inputs(model, maker) for maker in makers)


_OF_ANYTHING = ("Identity", "Transpose")
_BY_RESULT = ("Add", "Cast", "Div", "Mul", "Relu", "Sub")
"""Operators of which layers may compute even those that get floats, where they give integers."""


def _belongs_to_host(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node has nothing but the host's after it: transposes, and operators of floats."""
    if node.op_type not in (*HOST_OPERATORS, "Cast", "Gather"):
        return False
    if node.op_type not in _OF_ANYTHING and not _is_end_of_layout(model, node):
        decides = node.output[0] if node.op_type in _BY_RESULT else node.input[0]
        if model.get_tensor_datatype(decides).is_integer():
            return False
    following = model.find_direct_successors(node) or []
    return all(_belongs_to_host(model, successor) for successor in following)


def _is_end_of_layout(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node gives another shape at the end, where also the order changes: one without the other is no layer.

    Where the shape alone changes, a layer that moves nothing does that.
    """
    if not _moves(model, node):
        return False
    behind, before = [node], model.find_producer(node.input[0])
    for each in behind:
        behind += model.find_direct_successors(each) or []
    while before is not None and _moves(model, before):
        behind.append(before)
        before = model.find_producer(before.input[0])
    return any(_reorders(model, each) for each in behind)


def _moves(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node gives all values that come in, in another shape or order."""
    return node.op_type in ("Flatten", "Reshape", "Squeeze", "Unsqueeze") or _reorders(model, node)


def _reorders(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node gives all values that come in, in another order, as a flattened image needs at the end."""
    if node.op_type != "Gather":
        return bool(node.op_type == "Transpose")
    axis = next((each.i for each in node.attribute if each.name == "axis"), 0)
    places, shape = model.get_initializer(node.input[1]), model.get_tensor_shape(node.input[0])
    if shape is None or places is None:
        return False
    found: list[int] = sorted(places.ravel().tolist())
    return found == list(range(shape[axis]))


def _moves_data_on_chip(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a Transpose lies between hardware layers: the host brings its data into any layout."""
    at_an_end = _belongs_to_host(model, node) or _gets_floats_of_inputs(model, node)
    return node.input[0] not in {value.name for value in model.graph.input} and not at_an_end


def _tidy(model: ModelWrapper, registry: Registry, listed: list[PluginInfo]) -> ModelWrapper:
    """Convert forks and what is left of reshapes and transposes, and infer all annotations anew."""
    model = _by_name(model, registry, "finn:InferDuplicateStreamsLayer")
    if any(node.op_type == "Requant" for node in model.graph.node):
        model = _by_name(model, registry, "finn:AbsorbElementwiseOpsIntoRequant")
    model = _by_name(
        model,
        registry,
        "finn:AbsorbConsecutiveTransposes",
        "finn:RemoveCNVtoFCFlatten",
        "qonnx:GiveUniqueNodeNames",
        "qonnx:InferDataLayouts",
        "qonnx:InferDataTypes",
        "qonnx:InferShapes",
    )
    model = transposes_to_reshapes(model)
    if not any(kernel.qualified == "finn:Shuffle" for kernel in listed):
        model = shuffle_on_chip(model, _moves_data_on_chip)
    model = _reshapes_to_layers(model, registry)
    if any(node.op_type == "Transpose" for node in model.graph.node):
        model = model.transform(registry.get("transform", "finn:InferShuffle")(_moves_data_on_chip))
    return model


def _reshapes_to_layers(model: ModelWrapper, registry: Registry) -> ModelWrapper:
    """Convert reshapes, except those of floats before the host's quantiser or after its scale."""
    from onnx import NodeProto

    reshapes = [node for node in model.graph.node if node.op_type == "Reshape"]
    of_host = [
        node for node in reshapes if _gets_floats_of_inputs(model, node) or _belongs_to_host(model, node)
    ]
    if len(of_host) == len(reshapes):
        return model
    kept = [(node.SerializeToString(), model.get_initializer(node.input[1])) for node in of_host]
    registry.get("kernel", "finn:Reshape")  # enters itself in FINN's table when it is imported, only then
    model = _by_name(model, registry, "finn:InferReshape")
    made = {node.output[0]: node for node in model.graph.node}
    for (
        text,
        shape,
    ) in kept:  # the conversion takes the shape from a node, and QONNX's clean-up from the graph
        given = NodeProto.FromString(text)
        made[given.output[0]].CopyFrom(given)
        if shape is not None:
            model.set_initializer(given.input[1], shape)
    return model


def _check_nothing_between(model: ModelWrapper) -> None:
    """Refuse a host node that has hardware before and after it: the accelerator would be cut in two."""
    stuck = nodes_between(model, is_hardware)
    if stuck:
        listed = ", ".join(f"{node.op_type} ({node.name})" for node in stuck)
        raise ModelError(
            f"these nodes lie between hardware layers, and no kernel supports them: {listed}. The reason is "
            "the operator, its datatypes, its shapes or its attributes. `brainsmith plugins list --type kernel` lists "
            f"the kernels{''.join(why_unsupported(model, node) for node in stuck)}"
        )


def _labels_are_floats(model: ModelWrapper) -> None:
    """Declare the labels that a layer gives as it gives them, in float32; the TopK before gave int64."""
    from onnx import TensorProto

    labels: set[str] = set()
    for node in model.graph.node:
        if node.op_type == "LabelSelect" or (node.op_type == "Reshape" and node.input[0] in labels):
            labels.add(node.output[0])
    for value in (*model.graph.output, *model.graph.value_info):
        if value.name in labels:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
