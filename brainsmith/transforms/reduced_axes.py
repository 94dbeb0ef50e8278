"""Read over which axes ReduceMean and ReduceSum reduce, in any opset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from brainsmith.transforms.graph_view import GraphView, attribute, opset

if TYPE_CHECKING:
    from onnx import NodeProto

AXES_AS_INPUT = {"ReduceMean": 18, "ReduceSum": 13}
"""From this opset on the axes are an input and no attribute."""


def reduced_axes(view: GraphView, node: NodeProto) -> tuple[int, ...] | None:
    """Return the axes of a reduction, counted from 0; None where they are not known, or there are none.

    An empty list of them means all, unless `noop_with_empty_axes` says none.
    """
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if opset(view.model) < AXES_AS_INPUT[node.op_type]:
        axes = attribute(node, "axes")
    else:
        axes = view.constant(node.input[1]) if len(node.input) > 1 else None
    if shape is None or axes is None:
        return None
    if not len(axes):
        return None if attribute(node, "noop_with_empty_axes", 0) else tuple(range(len(shape)))
    return tuple(sorted(int(axis) % len(shape) for axis in axes))
