"""InferGlobalSum: sums over tokens or pixels into GlobalAccPool kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView
from brainsmith.transforms.node_rewrite import NodeRewrite
from brainsmith.transforms.reduced_axes import reduced_axes

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType


@transform(
    kernel="GlobalAccPool",
    description="Convert a ReduceSum over all axes between the first and the last into a GlobalAccPool",
)
class InferGlobalSum(NodeRewrite):
    """Convert ReduceSum of integers over tokens (1, T, C) or pixels (1, H, W, C) into FINN's GlobalAccPool.

    A Reshape before and one after, which move no data, give tokens the four axes that the kernel wants. Left alone:
    other axes, a first dimension other than 1, floats, shapes that are not known, and integers whose sums the kernel's
    output would not hold: FINN checks only the least ones, and takes INT3 for four values that are -1 or 1.
    """

    op_types = ("ReduceSum",)

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Convert a sum that the kernel can compute."""
        fits = _fits(view, node)
        if fits:
            _convert(view, node)
        return fits


def _fits(view: GraphView, node: NodeProto) -> bool:
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if shape is None or len(shape) < 3 or shape[0] != 1:
        return False
    taken = view.model.get_tensor_datatype(node.input[0])
    between = tuple(range(1, len(shape) - 1))
    if not taken.is_integer() or reduced_axes(view, node) != between:
        return False
    pixels = int(np.prod(shape[1:-1]))
    held = _sum_datatype(taken, pixels)
    holds = held.min() <= pixels * taken.min() and pixels * taken.max() <= held.max()
    return bool(holds) and held.name != "BIPOLAR"  # which has no 0


def _convert(view: GraphView, node: NodeProto) -> None:
    model = view.model
    shape = model.get_tensor_shape(node.input[0])
    pixels, channels = int(np.prod(shape[1:-1])), int(shape[-1])
    taken = model.get_tensor_datatype(node.input[0])
    total = _sum_datatype(taken, pixels)
    result, stem = node.output[0], node.name or node.output[0]
    model.set_tensor_datatype(result, total)
    nodes = []
    image, summed, size = node.input[0], result, list(shape[1:-1])
    if len(shape) != 4:
        size = [1, pixels]
        image = view.new_tensor(f"{stem}_image", [1, *size, channels], taken)
        nodes.append(view.reshape(node.input[0], image, [-1, *size, channels], f"{stem}_to_image"))
    behind = model.get_tensor_shape(result)
    if behind != [1, 1, 1, channels]:
        summed = view.new_tensor(f"{stem}_pooled", [1, 1, 1, channels], total)
    pool = helper.make_node(
        "GlobalAccPool",
        [image],
        [summed],
        name=stem,
        domain="finn.custom_op.fpgadataflow",
        backend="fpgadataflow",
        NumChannels=channels,
        PE=1,
        inputDataType=taken.name,
        numInputVectors=[1, *size],
    )
    nodes.append(pool)
    if summed != result:
        nodes.append(view.reshape(summed, result, behind, f"{stem}_from_image"))
    view.replace(node, nodes, node.input[1:])


def _sum_datatype(taken: BaseDataType, count: int) -> BaseDataType:
    """Return the datatype that FINN's GlobalAccPool gives to its sum."""
    return DataType.get_smallest_possible(count * (taken.min() if taken.signed() else taken.max()))
