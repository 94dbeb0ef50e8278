"""Sums of which one term is negated, as differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.transforms.integer.layer_graph import LayerGraph


def subtract(graph: LayerGraph) -> None:
    """Make a Sub of an Add one of whose terms is multiplied by -1, if nothing else reads that product."""
    for layer in graph.layers[:]:
        ends = graph.tensors[layer.result].range
        if layer.node.op_type != "Mul" or layer.constant is None or ends is None:
            continue
        readers = graph.readers(layer.result)
        if len(readers) != 1 or readers[0].node.op_type != "Add" or (layer.constant != -1).any():
            continue
        terms = list(readers[0].node.input)
        if readers[0].constant is not None or terms.count(layer.result) != 1:
            continue
        terms.remove(layer.result)
        readers[0].node.op_type = "Sub"
        readers[0].node.input[:] = [*terms, layer.node.input[0]]
        graph.layers.remove(layer)
        graph.tensors.pop(layer.result)
