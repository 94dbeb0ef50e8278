"""Which tensors a graph's nodes read and give, by name."""

from __future__ import annotations

from typing import Any


class Wiring:
    """The names of a graph's tensors, each read once.

    Fields of messages cost more than all else where a build looks at a graph after every transform. A slice of a repeated
    field is read twice as fast as the field element by element.

    Args:
        graph: An ONNX graph, which is not changed.

    Attributes:
        graph: The same.
        nodes: Its nodes.
        reads: The tensors that each of them reads; empty names for inputs that are left out.
        gives: The tensors that each of them gives.
        input_names: The graph's inputs, with the constants that it lists among them.
        constant_names: Its initialisers.
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.nodes: list[Any] = graph.node[:]
        self.reads: list[list[str]] = [node.input[:] for node in self.nodes]
        self.gives: list[list[str]] = [node.output[:] for node in self.nodes]
        self.input_names: list[str] = [value.name for value in graph.input[:]]
        self.constant_names: list[str] = [tensor.name for tensor in graph.initializer[:]]
