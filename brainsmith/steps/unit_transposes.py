"""Layout changes that move no data: a Transpose of which only dimensions of size 1 change places."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def transposes_to_reshapes(model: ModelWrapper) -> ModelWrapper:
    """Replace, in place, each integer Transpose that keeps the order of its elements by a Reshape.

    A Reshape is a pass-through in hardware. So a network whose one-channel NCHW input is brought to NHWC is
    hardware from its first node on, and the host need not know of the layout.
    """
    import numpy as np
    from onnx import helper
    from qonnx.util.basic import get_by_name

    for index, node in enumerate(model.graph.node):
        if node.op_type != "Transpose" or not model.get_tensor_datatype(node.input[0]).is_integer():
            continue
        shape = model.get_tensor_shape(node.input[0])
        order = get_by_name(node.attribute, "perm")
        if shape is None or order is None or not _keeps_elements(shape, list(order.ints)):
            continue
        target = model.make_new_valueinfo_name()
        model.set_initializer(target, np.asarray([shape[axis] for axis in order.ints], dtype=np.int64))
        reshape = helper.make_node("Reshape", [node.input[0], target], list(node.output), name=node.name)
        model.graph.node.insert(index, reshape)
        model.graph.node.remove(node)
    return model


def _keeps_elements(shape: list[int], order: list[int]) -> bool:
    moved = [axis for axis in order if shape[axis] > 1]
    return moved == sorted(moved)
