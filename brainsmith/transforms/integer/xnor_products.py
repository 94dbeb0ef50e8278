"""Products of bits and weights of -1 and 1, as counts of the bits that are equal: XNOR and popcount."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.integer_range import within
from brainsmith.transforms.integer.layer_graph import QONNX, LayerGraph, LayerNode

if TYPE_CHECKING:
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Whole


def with_negatives(graph: LayerGraph, tensor: IntegerTensor) -> IntegerTensor:
    """Return sums of bits times weights of -1 and 1 plus how many of a result's weights are -1, if one offset is left then.

    A bit n stands for a value of 2 n - 1, so a sum with the weights w has the offset -sum(w), one for each result. The
    count of bits that are equal to their weights has one for all results, so counts compare as the values do.
    """
    maker = graph.maker(tensor.name)
    if maker is None or tensor.order is not None or not _is_one_bit(graph, maker):
        return tensor
    negatives = _negatives(maker)
    offset = tensor.offset - tensor.scale * negatives
    if tensor.scale.size > 1 or not np.allclose(
        offset, offset[0], rtol=1e-12, atol=1e-9 * abs(tensor.scale[0])
    ):
        return tensor
    counts = tensor.range.plus(negatives)
    shape = graph.tensors[tensor.name].shape
    name = graph.add("Add", [tensor.name], f"{tensor.name}_equal", shape, counts, constant=negatives)
    return replace(tensor, name=name, range=counts, offset=offset[:1])


def count_equal_bits(graph: LayerGraph) -> None:
    """Make XnorPopcountMatMul of products of bits and weights of -1 and 1 that thresholds, or `with_negatives`, read.

    Of K weights, the count of equal bits is the sum plus how many weights are -1, so thresholds rise by that.
    """
    for layer in graph.layers[:]:
        if not _is_one_bit(graph, layer):
            continue
        readers, negatives = graph.readers(layer.result), _negatives(layer)
        if [reader.node.op_type for reader in readers] == ["Add"] and _adds(readers[0], negatives):
            added = readers[0]
            graph.layers.remove(added)
            graph.tensors.pop(layer.result)
            layer.node.output[0] = added.result
        elif readers and all(reader.node.op_type == "MultiThreshold" for reader in readers):
            for reader in readers:
                assert reader.constant is not None
                reader.constant = reader.constant + negatives[:, None]
            graph.tensors[layer.result].added = negatives
        else:
            continue
        assert layer.constant is not None
        layer.node.op_type, layer.node.domain = "XnorPopcountMatMul", QONNX
        graph.tensors[layer.result].range = within(0, len(layer.constant))
        layer.constant = (layer.constant + 1) // 2


def _is_one_bit(graph: LayerGraph, layer: LayerNode) -> bool:
    if layer.node.op_type != "MatMul" or layer.constant is None or layer.taps_of_channels:
        return False
    given = graph.tensors.get(layer.node.input[0])
    bits = given is not None and given.range is not None and given.datatype == "BINARY"
    return bits and bool(np.isin(layer.constant, (-1, 1)).all())


def _negatives(layer: LayerNode) -> Whole:
    assert layer.constant is not None
    return np.asarray((layer.constant < 0).sum(axis=0), np.int64)


def _adds(layer: LayerNode, numbers: Any) -> bool:
    return layer.constant is not None and np.array_equal(layer.constant, numbers)
