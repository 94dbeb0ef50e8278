"""Windows of one pixel, and windows at one place: what they do not read is cut, and strides that say nothing go.

FINN's circuits refuse such windows, or give more values than there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.util.basic import get_by_name

from brainsmith.transforms.graph_view import attribute, is_standard, kernel_node

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


def crop_single_pixels(model: ModelWrapper) -> ModelWrapper:
    """Put, in place, a Crop in front of each sliding window of one pixel that leaves the last rows or columns unread.

    A window that reads every pixel that is left does nothing, and goes.
    """
    from qonnx.custom_op.registry import getCustomOp

    for node in [node for node in model.graph.node if node.op_type == "ConvolutionInputGenerator"]:
        layer = getCustomOp(node)
        stride, image, out = (list(layer.get_nodeattr(name)) for name in ("Stride", "IFMDim", "OFMDim"))
        if list(layer.get_nodeattr("ConvKernelDim")) != [1, 1]:
            continue
        read = [(count - 1) * by + 1 for count, by in zip(out, stride, strict=True)]
        if read != image:
            _crop(model, node, read)
            layer.set_nodeattr("IFMDim", read)
        stride = [1 if size == 1 else by for size, by in zip(read, stride, strict=True)]
        layer.set_nodeattr("Stride", stride)
        if stride == [1, 1] and read != image:
            before = model.find_producer(node.input[0])
            before.output[0] = node.output[0]
            model.graph.node.remove(node)
    return model


def _crop(model: ModelWrapper, node: NodeProto, read: list[int]) -> None:
    source = node.input[0]
    shape, datatype = list(model.get_tensor_shape(source)), model.get_tensor_datatype(source)
    kept = [shape[0], *read, shape[-1]]
    cropped = model.make_new_valueinfo_name()
    model.set_tensor_shape(cropped, kept)
    model.set_tensor_datatype(cropped, datatype)
    stated = {"in_shape": shape, "starts": [0] * len(shape), "sizes": kept, "out_shape": kept}
    new = kernel_node(
        "CropKernel", [source], [cropped], f"{node.name}_crop", inputDataType=datatype.name, SIMD=1, **stated
    )
    node.input[0] = cropped
    model.graph.node.insert(list(model.graph.node).index(node), new)
