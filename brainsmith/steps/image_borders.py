"""Borders of zeros around images, channels last: FINN's conversion wants them stated for two axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.transforms.graph_view import attribute, is_standard, kernel_node

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def borders_to_layers(model: ModelWrapper) -> ModelWrapper:
    """Replace, in place, each Pad that puts zeros around an image of integers, (1, H, W, C), by FINN's layer."""
    for node in [node for node in model.graph.node if is_standard(node, "Pad")]:
        pads, shape = _border(model, node), model.get_tensor_shape(node.input[0])
        datatype = model.get_tensor_datatype(node.input[0])
        if pads is None or not datatype.is_integer():
            continue
        _, *size, channels = shape
        layer = kernel_node(
            "FMPadding", [node.input[0]], list(node.output), node.name, ImgDim=size, Padding=pads,
            NumChannels=channels, SIMD=channels, inputDataType=datatype.name,
        )  # fmt: skip
        layer.domain = "finn.custom_op.fpgadataflow"
        model.graph.node.insert(list(model.graph.node).index(node), layer)
        model.graph.node.remove(node)
        model.set_tensor_datatype(layer.output[0], datatype)
    return model


def _border(model: ModelWrapper, node: NodeProto) -> list[int] | None:
    """Return how many zeros are at the top, left, bottom and right; None of other paddings."""
    if attribute(node, "mode", b"constant") != b"constant" or len(node.input) > 3:
        return None
    pads = model.get_initializer(node.input[1])
    value = model.get_initializer(node.input[2]) if len(node.input) > 2 and node.input[2] else 0
    if pads is None or len(pads) != 8 or value != 0 or pads[[0, 3, 4, 7]].any() or (pads < 0).any():
        return None
    return [int(pads[at]) for at in (1, 2, 5, 6)]
