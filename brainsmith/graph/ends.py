"""What goes into a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto


def input_values(graph: GraphProto) -> list[ValueInfoProto]:
    """Return the inputs of a graph.

    An initializer that is listed as a graph input too, as up to ONNX IR version 3 all of them were, is a constant.
    """
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]
