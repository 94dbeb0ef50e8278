"""Nodes one after the other, of which nothing else reads what is between: they can be rewritten as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.transforms.graph_view import is_standard

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView

RESHAPES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
"""Operators that keep the order of the values."""


def chain_before(view: GraphView, node: NodeProto, *op_types: str) -> list[NodeProto]:
    """Return the nodes of some types before a node, in order, as far as nothing else reads them."""
    found: list[NodeProto] = []
    while True:
        name = (found[0] if found else node).input[0]
        producer = view.producer(name, *op_types)
        if producer is None or view.readers(name) != 1:
            return found
        found.insert(0, producer)


def chain_behind(view: GraphView, node: NodeProto, *op_types: str) -> list[NodeProto]:
    """Return the nodes of some types after a node, in order, as far as nothing else reads what is between."""
    found: list[NodeProto] = []
    while True:
        name = (found[-1] if found else node).output[0]
        readers = view.nodes_reading(name)
        if view.readers(name) != 1 or not readers or not is_standard(readers[0], *op_types):
            return found
        if readers[0].input[0] != name:
            return found
        found.append(readers[0])
