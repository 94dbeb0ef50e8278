"""InferCrop: windows of computed tensors into Crop kernels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from onnx import TensorProto

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, kernel_node
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    from onnx import NodeProto


class _Window(NamedTuple):
    starts: list[int]
    sizes: list[int]


@transform(
    kernel="Crop",
    description="Convert Slice, Gather of contiguous places, and Split with unread parts into Crop kernels",
)
class InferCrop(NodeRewrite):
    """Convert Slice and Gather of integers into the Crop kernel, where what they take is one window.

    Slice with constant limits and steps of 1; Gather of one constant index, or of several that follow each other; Split
    of which parts are not read, whose streams nothing would take: the parts that are read are windows then. Left alone:
    a window of a constant (an embedding is FINN's Lookup), floats, shapes that are not known, a window without values.

    Args:
        gathers: Convert Gather, too; FINN has kernels for that.
    """

    op_types = ("Slice", "Gather", "Split")

    def __init__(self, gathers: bool = True) -> None:
        super().__init__()
        self.gathers = gathers

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Convert a node whose result is one window of a computed tensor."""
        if node.op_type == "Gather" and not self.gathers:
            return False
        if node.op_type == "Split":
            return _read_parts(view, node)
        source, output = (
            view.static_shape(name, TensorProto.FLOAT) for name in (node.input[0], node.output[0])
        )
        if source is None or output is None or view.constant(node.input[0]) is not None:
            return False
        window = (_slice if node.op_type == "Slice" else _gather)(view, node, source)
        if window is None or not view.model.get_tensor_datatype(node.input[0]).is_integer():
            return False
        if prod(window.sizes) != prod(output):
            return False
        _replace(view, node, {node.output[0]: window}, source)
        return True


def _slice(view: GraphView, node: NodeProto, shape: list[int]) -> _Window | None:
    """Return the window of a Slice, or None where it is not constant or leaves places out."""
    limits = [view.constant(name) if name else None for name in node.input[1:]]
    if len(limits) < 2 or any(
        limit is None and name for limit, name in zip(limits, node.input[1:], strict=True)
    ):
        return None
    starts, ends, axes, steps = (*limits, None, None)[:4]
    if starts is None or ends is None or (steps is not None and (steps != 1).any()):
        return None
    window = _Window([0] * len(shape), list(shape))
    places = range(len(starts)) if axes is None else axes.tolist()
    for axis, start, end in zip(places, starts.tolist(), ends.tolist(), strict=True):
        begin, stop, _ = slice(start, end).indices(shape[axis])
        window.starts[axis], window.sizes[axis] = begin, stop - begin
    return window if min(window.sizes) > 0 else None


def _gather(view: GraphView, node: NodeProto, shape: list[int]) -> _Window | None:
    """Return the window of a Gather, or None where it is not constant or leaves places out."""
    indices = view.constant(node.input[1])
    if indices is None or indices.ndim > 1 or not indices.size:
        return None
    axis = attribute(node, "axis", 0)
    places = np.where(indices < 0, indices + shape[axis], indices).reshape(-1)
    if (np.diff(places) != 1).any():
        return None
    window = _Window([0] * len(shape), list(shape))
    window.starts[axis], window.sizes[axis] = int(places[0]), len(places)
    return window


def _read_parts(view: GraphView, node: NodeProto) -> bool:
    """Replace a Split by a window for each part that is read, if not all are."""
    source = view.static_shape(node.input[0], TensorProto.FLOAT)
    parts = [view.static_shape(name, TensorProto.FLOAT) for name in node.output]
    known = [part for part in parts if part is not None]
    if source is None or len(known) < len(parts) or view.constant(node.input[0]) is not None:
        return False
    if not view.model.get_tensor_datatype(node.input[0]).is_integer():
        return False
    axis, start, windows = attribute(node, "axis", 0), 0, {}
    for name, part in zip(node.output, known, strict=True):
        if view.readers(name):
            starts = [0] * len(source)
            starts[axis] = start
            windows[name] = _Window(starts, list(part))
        start += part[axis]
    if len(windows) in (0, len(parts)):
        return False
    _replace(view, node, windows, source)
    return True


def _replace(view: GraphView, node: NodeProto, windows: dict[str, _Window], shape: list[int]) -> None:
    """Put a kernel in a node's place for each of its outputs that is a window."""
    datatype = view.model.get_tensor_datatype(node.input[0])
    kernels = [
        kernel_node(
            "CropKernel",
            [node.input[0]],
            [output],
            name=node.name if len(windows) == 1 else f"{node.name}_{at}",
            in_shape=shape,
            starts=window.starts,
            sizes=window.sizes,
            out_shape=view.static_shape(output, TensorProto.FLOAT),
            inputDataType=datatype.name,
            SIMD=1,
        )
        for at, (output, window) in enumerate(windows.items())
    ]
    view.replace(node, kernels, node.input[1:])
    for output in windows:
        view.model.set_tensor_datatype(output, datatype)
