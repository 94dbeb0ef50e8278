"""An integer around images, as a layer of its own, and where zeros are put around them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.lattice.staircases import is_quantiser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_graph import LayerGraph


def with_border(
    graph: LayerGraph, tensor: IntegerTensor, pads: Sequence[int], base: str, value: int = 0
) -> IntegerTensor:
    """Return an image with an integer around it, among its integers; pending operators stay pending.

    Args:
        graph: Where the layer is added.
        tensor: An image.
        pads: At the top, left, bottom and right.
        base: Of the layer's name.
        value: Of what is put around.
    """
    if not any(pads):
        return tensor
    _, channels, height, width = tensor.shape
    top, left, bottom, right = pads
    height, width = height + top + bottom, width + left + right
    low, high = np.minimum(tensor.low, value), np.maximum(tensor.high, value)
    ends = np.asarray([0, top, left, 0, 0, bottom, right, 0], np.int64)
    inputs = (
        [tensor.name, graph.hold(np.asarray(value, np.float32), f"{base}_fill")] if value else [tensor.name]
    )
    name = graph.add(
        "Pad", inputs, f"{base}_padded", (1, height, width, channels), (low, high), constant=ends
    )
    return replace(tensor, name=name, shape=(1, channels, height, width), low=low, high=high)


def meets_padding(view: GraphView, name: str) -> bool:
    """Tell whether zeros are put beside a tensor's values, as convolutions and pools do."""
    for node in view.nodes_reading(name):
        if any(attribute(node, "pads", [])) or node.op_type in ("ConvTranspose", "Pad"):
            return True
        ends = is_quantiser(node) or node.op_type in ("MatMul", "Conv", "Gemm")
        if not ends and meets_padding(view, node.output[0]):
            return True
    return False
