"""What FINN's conversions take for granted: where it does not hold, the layer would compute something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ModelError
from brainsmith.graph.integer_range import range_of_values
from brainsmith.graph.well_formed import node_text
from brainsmith.transforms.graph_view import attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    Check = Callable[[ModelWrapper, NodeProto], str]
    """Returns what is wrong with a node; an empty text if nothing is."""


def check_limits(model: ModelWrapper, op_types: Collection[str]) -> None:
    """Raise if an operator is not what its hardware layer computes, whatever its attributes say.

    Args:
        model: About to be converted.
        op_types: The operators that a conversion takes.

    Raises:
        ModelError: Names all such nodes, and what is wrong with each.
    """
    refuse_nodes(model, {op_type: _CHECKS[op_type] for op_type in op_types if op_type in _CHECKS})


def refuse_nodes(model: ModelWrapper, checks: Mapping[str, Check]) -> None:
    """Raise if a check of a node's operator gives a reason, which the message states after the node.

    Raises:
        ModelError: Names all such nodes.
    """
    found = []
    for node in model.graph.node:
        check = checks.get(node.op_type)
        if check is not None and (reason := check(model, node)):
            found.append(f"{node_text(node)} {reason}")
    if found:
        raise ModelError("\n".join(found))


def check_sign_products(model: ModelWrapper) -> None:
    """Raise if a product of signs reads something else than thresholds, before it becomes a count of equal bits.

    QONNX lets the thresholds in front give bits. Without them it would state bits for the model's own input, or fail.

    Raises:
        ModelError: Names all such nodes.
    """
    refuse_nodes(model, {"Conv": _sign_product, "MatMul": _sign_product})


def _sign_product(model: ModelWrapper, node: NodeProto) -> str:
    signs = all(model.get_tensor_datatype(name).name == "BIPOLAR" for name in node.input[:2])
    if not signs or model.find_upstream(node.input[0], _gives_signs):
        return ""
    return (
        "multiplies BIPOLAR inputs that come from no quantiser by BIPOLAR weights, and a layer that counts equal signs "
        "takes bits: give the model's input the datatype INT2, which holds -1 and 1, too"
    )


def _gives_signs(node: NodeProto) -> bool:
    return node.op_type == "MultiThreshold" and bool(attribute(node, "out_dtype", b"") == b"BIPOLAR")


def _top_k(model: ModelWrapper, node: NodeProto) -> str:
    if not model.get_tensor_datatype(node.input[0]).is_integer():
        return ""
    if not attribute(node, "largest", 1):
        return "finds the smallest values, and LabelSelect the largest: negate what goes into it, and set largest to 1"
    if reason := _other_axis(model, node, -1, "LabelSelect"):
        return reason
    values = node.output[0]
    if values in {value.name for value in model.graph.output} or model.find_consumers(values):
        return "gives values that are used, and LabelSelect gives indices only: take the values out of the outputs"
    return ""


def _softmax(model: ModelWrapper, node: NodeProto) -> str:
    return _other_axis(model, node, -1 if model.get_opset_imports().get("", 13) >= 13 else 1, "HWSoftmax")


def _other_axis(model: ModelWrapper, node: NodeProto, default: int, kernel: str) -> str:
    axes = len(model.get_tensor_shape(node.input[0]))
    axis = attribute(node, "axis", default)
    if axis in (-1, axes - 1):
        return ""
    return f"works along axis {axis} of {axes}, and {kernel} along the last: transpose what goes into it"


def _max_pool(model: ModelWrapper, node: NodeProto) -> str:
    if not model.get_tensor_datatype(node.input[0]).is_integer():
        return ""
    if attribute(node, "ceil_mode", 0) and not _fits(model, node):
        return "uses ceil_mode, which Pool does not support: pad the image before it"
    dilations = attribute(node, "dilations", [1])
    if any(dilation != 1 for dilation in dilations):
        return f"has dilations = {list(dilations)}, which Pool does not support: use a convolution, or no dilation"
    return ""


def _fits(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether no window of a pool reaches beyond its padded image."""
    shape = model.get_tensor_shape(node.input[0])
    size = shape[1:3] if node.op_type == "MaxPoolNHWC" else shape[2:]
    kernel, pads = attribute(node, "kernel_shape", []), attribute(node, "pads", [0] * 2 * len(size))
    strides = attribute(node, "strides", [1] * len(size))
    axes = range(len(size))
    return all(not (size[at] + pads[at] + pads[at + len(size)] - kernel[at]) % strides[at] for at in axes)


def _conv(model: ModelWrapper, node: NodeProto) -> str:
    kind = model.get_tensor_datatype(node.input[0])
    if kind.allowed(0) or not any(attribute(node, "pads", [])):
        return ""
    return (
        f"pads an image of {kind.name} with 0, which that type does not hold: give the image a datatype that has 0, such "
        "as INT2, or use no padding"
    )


def _resize(model: ModelWrapper, node: NodeProto) -> str:
    """Compute where each pixel of a nearest-neighbour upsampling comes from, and compare it with the layer's."""
    import numpy as np
    from qonnx.core.onnx_exec import execute_node

    if not model.get_tensor_datatype(node.input[0]).is_integer():
        return ""
    shape, result = (model.get_tensor_shape(name) for name in (node.input[0], node.output[0]))
    if len(shape) != 4 or len(result) != 4:
        return ""  # FINN refuses it itself
    for axis in (1, 2):
        places = np.indices(shape, np.float32)[axis]
        context = {name: model.get_initializer(name) for name in node.input[1:] if name}
        context.update({"": None, node.input[0]: places, node.output[0]: np.zeros(result, np.float32)})
        execute_node(node, context, model.graph, model.get_opset_imports().get("", 13))
        wanted = np.arange(result[axis]) * shape[axis] // result[axis]
        found = np.moveaxis(context[node.output[0]], axis, -1)
        if result[axis] % shape[axis] or not np.array_equal(found, np.broadcast_to(wanted, found.shape)):
            return (
                "does not repeat each pixel equally often, as UpsampleNearestNeighbour does: use whole factors, mode "
                "nearest, nearest_mode floor and coordinate_transformation_mode asymmetric"
            )
    return ""


def _div(model: ModelWrapper, node: NodeProto) -> str:
    if not all(_is_whole(model, name) for name in node.input):
        return ""
    return "divides integers, whose quotients are fractions, and ElementwiseDiv cuts those off: multiply by a constant"


def _is_whole(model: ModelWrapper, name: str) -> bool:
    """Tell whether FINN takes a tensor to be one of integers."""
    value = model.get_initializer(name)
    return (value is not None and range_of_values(value) is not None) or bool(
        model.get_tensor_datatype(name).is_integer()
    )


_CHECKS: dict[str, Check] = {
    "Conv": _conv,
    "Div": _div,
    "MaxPool": _max_pool,
    "MaxPoolNHWC": _max_pool,
    "Resize": _resize,
    "Softmax": _softmax,
    "TopK": _top_k,
    "Upsample": _resize,
}
