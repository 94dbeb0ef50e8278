"""An integer around images, as a layer of its own, and where zeros are put around them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.lattice.staircases import is_quantiser

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layer_graph import LayerGraph
    from brainsmith.transforms.lattice.array_kinds import Doubles, Whole

_PARTS = (1, 2, 4, 8, 16)
"""Into how many parts a scale is divided for 0 to be one of the values: -1 and 1 are whole numbers of 2, less 1."""

_SUMS = ("AveragePool", "GlobalAveragePool", "ReduceMean", "ReduceSum")

_LARGEST = 1 << 24
"""Integers beyond are not exact in float32."""


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
    held = tensor.range.holding(value)
    ends = np.asarray([0, top, left, 0, 0, bottom, right, 0], np.int64)
    inputs = (
        [tensor.name, graph.hold(np.asarray(value, np.float32), f"{base}_fill")] if value else [tensor.name]
    )
    name = graph.add("Pad", inputs, f"{base}_padded", (1, height, width, channels), held, constant=ends)
    return replace(tensor, name=name, shape=(1, channels, height, width), range=held)


def meets_padding(view: GraphView, name: str) -> bool:
    """Tell whether zeros are put beside a tensor's values, as convolutions and pools do."""
    return _meets(
        view, name, lambda node: any(attribute(node, "pads", [])) or node.op_type in ("ConvTranspose", "Pad")
    )


def meets_sum(view: GraphView, name: str) -> bool:
    """Tell whether a tensor's values are summed as they are: FINN takes the sum of two signs for an INT2."""
    return _meets(view, name, lambda node: node.op_type in _SUMS)


def _meets(view: GraphView, name: str, wanted: Callable[[NodeProto], bool]) -> bool:
    """Tell whether a tensor's values reach a node, before quantisers and products."""
    for node in view.nodes_reading(name):
        ends = is_quantiser(node) or node.op_type in ("MatMul", "Conv", "Gemm")
        if wanted(node) or (not ends and _meets(view, node.output[0], wanted)):
            return True
    return False


def with_zero(build: LayerBuilder, tensor: IntegerTensor, base: str, stands_for: float = 0) -> IntegerTensor:
    """Return a tensor whose integer 0 is the value 0, in whose range it is, for padding."""
    tensor = without_offset(build, tensor, base, stands_for)
    return replace(tensor, range=tensor.range.holding(0))


def without_offset(
    build: LayerBuilder, tensor: IntegerTensor, base: str, stands_for: float = 0
) -> IntegerTensor:
    """Return a tensor whose values are whole numbers of its scale, or of parts of it.

    Raises:
        NoLayerError: They are not.
    """
    if not tensor.offset.any():
        return tensor
    parts, added = _whole_offsets(tensor, stands_for)
    unit = _scale_without_zeros(tensor) / parts
    finer = build.scaled(tensor, np.where(tensor.scale == 0, 0, parts), f"{base}_finer")
    shifted = build.shifted(finer, added, f"{base}_shifted")
    return replace(shifted, scale=unit, offset=np.zeros(1))


def _whole_offsets(tensor: IntegerTensor, stands_for: float) -> tuple[int, Whole]:
    """Return the least power of 2 that scales may be divided by for offsets to be whole numbers of them, and those."""
    safe = _scale_without_zeros(tensor)
    for parts in _PARTS:
        unit, offset = np.broadcast_arrays(safe / parts, tensor.offset)
        whole = np.rint(offset / unit)
        if np.abs(whole).max() < _LARGEST and np.array_equal(whole * unit, offset):
            return parts, whole.astype(np.int64)
    raise NoLayerError(
        f"it pads with {stands_for:g}, which is not one of its input's possible values",
        "pad with a whole number times the scale, or quantise with the zero point 0 before it",
    )


def _scale_without_zeros(tensor: IntegerTensor) -> Doubles:
    """Return scales with another channel's in place of 0, where the integers are 0 then."""
    others = tensor.scale[tensor.scale != 0]
    return np.where(tensor.scale == 0, others[0] if others.size else 1.0, tensor.scale)
