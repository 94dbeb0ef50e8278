"""Factors of integers become part of the layer before them, where it can take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.integer_range import within
from brainsmith.transforms.graph_view import set_attribute
from brainsmith.transforms.integer.whole_factors import MOST_WEIGHT

if TYPE_CHECKING:
    from brainsmith.graph.integer_range import IntegerRange
    from brainsmith.transforms.integer.layer_graph import LayerGraph, LayerNode
    from brainsmith.transforms.lattice.array_kinds import Whole

MOST_THRESHOLDS = 255
"""More are no thresholds: each is a comparison of its own."""


def fold_factors(graph: LayerGraph) -> None:
    """Bring each factor of integers into the weights, or the thresholds, of the layer before it.

    As long as nothing else reads what that layer gives. A factor that stays is an element-wise product.
    """
    makers = {layer.result: layer for layer in graph.layers}
    for layer in [each for each in graph.layers if each.node.op_type == "Mul"]:
        if graph.tensors[layer.result].range is None or layer.constant is None:
            continue
        if layer.constant.size > layer.constant.shape[-1]:  # other factors at other pixels
            continue
        maker = makers.get(layer.node.input[0])
        factor = layer.constant.reshape(-1).astype(np.int64)
        if maker is None or len(graph.readers(maker.result)) != 1 or not _absorbed(graph, maker, factor):
            continue
        graph.layers.remove(layer)
        graph.moved(maker.result, layer.result, factor)
        tensor = graph.tensors[layer.result] = graph.tensors.pop(layer.result)
        if maker.node.op_type == "MultiThreshold":
            tensor.range = _with_all_levels(maker, tensor.range)
        maker.node.output[0] = layer.result
        makers[layer.result] = maker


def _absorbed(graph: LayerGraph, maker: LayerNode, factor: Whole) -> bool:
    """Let a layer give integers times factors, if it can."""
    if maker.node.op_type == "MatMul" and maker.constant is not None:
        product = maker.constant * factor
        if np.abs(product).max(initial=0) > max(MOST_WEIGHT, np.abs(maker.constant).max(initial=0)):
            return False
        maker.constant = product
        return True
    return maker.node.op_type == "MultiThreshold" and _repeat_thresholds(graph, maker, factor)


def _with_all_levels(maker: LayerNode, reached: IntegerRange | None) -> IntegerRange:
    """Return a range that holds every level of thresholds, reached or not: the datatype of the result is made for all."""
    assert maker.constant is not None
    assert reached is not None
    least = round(next(each.f for each in maker.node.attribute if each.name == "out_bias"))
    most = least + maker.constant.shape[1]
    return reached.holding(least, most)


def _repeat_thresholds(graph: LayerGraph, maker: LayerNode, factor: Whole) -> bool:
    """Let each threshold count as often as the factor of its channel says.

    Thresholds that every integer reaches make up for what the level below all thresholds is more than the least one.
    """
    if (factor < 0).any():
        return False
    assert maker.constant is not None
    bias = next(each for each in maker.node.attribute if each.name == "out_bias")
    given = maker.constant
    channels = max(factor.size, len(given))
    factors = np.broadcast_to(factor, (channels,))
    below = round(bias.f) * factors
    least = int(below.min())
    rows = [np.repeat(given[at % len(given)], factors[at]) for at in range(channels)]
    behind = below - least
    count = max(len(row) + more for row, more in zip(rows, behind, strict=True))
    inputs = graph.tensors.get(maker.node.input[0])
    known = inputs is not None and inputs.range is not None
    if not 0 < count <= MOST_THRESHOLDS or not (known or all(len(row) == count for row in rows)):
        return False
    low, high = (within(0, 0) if inputs is None or inputs.range is None else inputs.range).ends
    maker.constant = np.stack(
        [
            np.concatenate([np.full(more, low), row, np.full(count - more - len(row), high + 1)])
            for row, more in zip(rows, behind, strict=True)
        ]
    )
    set_attribute(maker.node, "out_bias", float(least))
    return True
