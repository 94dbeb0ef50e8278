"""Move scales of channels after depthwise convolutions, where they become part of thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.transforms.graph_view import GraphView


def scales_past_depthwise(model: ModelWrapper) -> bool:
    """Scale what a depthwise convolution gives, and not what it takes; tell whether anything has moved.

    A factor of a channel meets that channel's products alone, and padding is 0 before it and after. Streamlining moves
    only a factor that all channels share. Others stay in front, where they keep the convolution one of floats.

    Args:
        model: In NCHW, grouped convolutions made dense but for those of one channel in and out; it is changed.
    """
    from brainsmith.transforms.graph_view import GraphView

    view, moved = GraphView(model), False
    for name in [node.output[0] for node in model.graph.node if node.op_type == "Conv"]:
        conv = view.producer(name, "Conv")
        while conv is not None and (scale := _scale_in_front(view, conv)) is not None:
            conv = _swap(view, scale, conv)
            moved = True
    return moved


def _scale_in_front(view: GraphView, conv: NodeProto) -> NodeProto | None:
    """Return the Mul of each channel by a constant that only this depthwise convolution without a bias reads."""
    from brainsmith.transforms.graph_view import attribute

    weights, scale = view.constant(conv.input[1]), view.producer(conv.input[0], "Mul")
    if weights is None or scale is None or len(conv.input) != 2 or view.readers(scale.output[0]) != 1:
        return None
    groups, factor = attribute(conv, "group", 1), view.constant(scale.input[1])
    depthwise = len(weights) == weights.shape[1] * groups == groups
    if not depthwise or factor is None or view.constant(scale.input[0]) is not None:
        return None
    return scale if factor.shape == (1, groups, *[1] * (weights.ndim - 2)) else None


def _swap(view: GraphView, scale: NodeProto, conv: NodeProto) -> NodeProto:
    """Put a scale after a convolution; return the convolution."""
    from onnx import helper

    result = conv.output[0]
    plain = view.new_tensor(f"{result}_plain", view.model.get_tensor_shape(result))
    first = conv.__class__.FromString(conv.SerializeToString())
    first.input[0], first.output[0] = scale.input[0], plain
    then = helper.make_node("Mul", [plain, scale.input[1]], [result], name=scale.name)
    between = scale.output[0]
    view.replace(scale, [])
    view.replace(conv, [first, then], [between])
    return first
