"""Windows at one place: strides that say nothing go. FINN's circuits refuse such windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.util.basic import get_by_name

from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

WINDOWS = ("AveragePool", "Conv", "MaxPool")


def drop_strides_of_single_windows(model: ModelWrapper) -> ModelWrapper:
    """Make, in place, the stride 1 along each axis on which a window just covers its padded image.

    Padding at the end of an image that no window reads is cut before; of a pool only where a single window is left,
    because QONNX's MaxPoolNHWC takes equal padding at both ends.
    """
    for node in model.graph.node:
        if is_standard(node, *WINDOWS):
            _drop(model, node)
    return model


def _drop(model: ModelWrapper, node: NodeProto) -> None:
    shape, result = model.get_tensor_shape(node.input[0]), model.get_tensor_shape(node.output[0])
    padded = attribute(node, "auto_pad", b"") not in (b"NOTSET", b"")
    stated, kernel = get_by_name(node.attribute, "strides"), attribute(node, "kernel_shape")
    if padded or shape is None or result is None or stated is None or kernel is None:
        return
    axes = len(shape) - 2
    strides, pads = stated.ints, attribute(node, "pads", [0] * 2 * axes)
    dilations = attribute(node, "dilations", [1] * axes)
    for axis in range(axes):
        covered = (kernel[axis] - 1) * dilations[axis] + 1
        spare = shape[2 + axis] + pads[axis] + pads[axes + axis] - covered
        if strides[axis] == 1 or spare != (result[2 + axis] - 1) * strides[axis] + spare % strides[axis]:
            continue
        unread = min(spare % strides[axis], pads[axes + axis])
        if unread and (node.op_type == "Conv" or spare == unread):
            pads[axes + axis] -= unread
            get_by_name(node.attribute, "pads").ints[:] = pads
        if spare == unread:
            strides[axis] = 1
