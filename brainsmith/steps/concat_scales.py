"""Scales before a Concat, in the form in which FINN moves them after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from qonnx.transformation.base import Transformation
from qonnx.util.basic import get_by_name

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


class ChannelwiseBeforeConcat(Transformation):
    """Write the constants of the Mul or Add nodes before a Concat with all axes, and a number per channel.

    FINN's MoveAffinePastJoinConcat puts them together then. It takes any constant for such a one, and ends in an
    IndexError at one with fewer axes than the tensor. Constants that are one equal number stay.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Rewrite constants; the flag is always False."""
        for concat in model.get_nodes_by_op_type("Concat"):
            producers = [model.find_producer(name) for name in concat.input]
            kinds = {node.op_type if node is not None else "" for node in producers}
            if kinds in ({"Mul"}, {"Add"}):
                _rewrite(model, concat, [node for node in producers if node is not None])
        return model, False


def _rewrite(model: ModelWrapper, concat: NodeProto, scales: list[NodeProto]) -> None:
    constants = [model.get_initializer(node.input[1]) for node in scales]
    shapes = [model.get_tensor_shape(node.input[0]) for node in scales]
    if any(constant is None for constant in constants) or any(shape is None for shape in shapes):
        return
    numbers = {float(constant.reshape(-1)[0]) if constant.size == 1 else None for constant in constants}
    if len(numbers) == 1 and None not in numbers and len({constant.shape for constant in constants}) == 1:
        return
    for node, constant, shape in zip(scales, constants, shapes, strict=True):
        axis = get_by_name(concat.attribute, "axis").i % len(shape)
        full = constant.reshape((1,) * (len(shape) - constant.ndim) + constant.shape)
        wanted = [shape[axis] if at == axis else side for at, side in enumerate(full.shape)]
        if list(constant.shape) != wanted:
            node.input[1] = model.make_new_valueinfo_name()  # others may read the constant too
            model.set_initializer(node.input[1], np.broadcast_to(full, wanted).copy())
