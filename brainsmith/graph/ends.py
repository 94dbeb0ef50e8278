"""What goes into a graph and comes out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx import GraphProto, ValueInfoProto


def input_values(graph: GraphProto) -> list[ValueInfoProto]:
    """Return the inputs of a graph.

    An initializer that is listed as a graph input too, as up to ONNX IR version 3 all of them were, is a constant.
    """
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]


def numpy_type(value: ValueInfoProto) -> str:
    """Return NumPy's name of the type in which an input or output is passed; float32 if the graph states none."""
    from onnx import helper

    kind = value.type.tensor_type.elem_type
    return helper.tensor_dtype_to_np_dtype(kind).name if kind else "float32"


def tensors_behind(graph: GraphProto, names: Iterable[str]) -> dict[str, None]:
    """Return some tensors and all that depend on them, in the order of the nodes, which is that of execution."""
    reached = dict.fromkeys(names)
    for node in graph.node:
        if not reached.keys().isdisjoint(node.input):
            reached.update(dict.fromkeys(filter(None, node.output)))
    return reached
