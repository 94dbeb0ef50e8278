"""What an exporter left to defaults, or to ONNX to work out, of windows and images, is written into the node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.util.basic import get_by_name

from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

CONVOLUTIONS = ("Conv", "ConvTranspose")
POOLS = ("MaxPool", "AveragePool")
RESIZES = ("Resize", "Upsample")


def write_out_defaults(model: ModelWrapper) -> None:
    """Write into convolutions and pools, in place, what later steps read: sizes, strides, and padding as numbers.

    A Resize gets its mode.

    `auto_pad`, as TensorFlow's exporters write it, becomes `pads`; of a ConvTranspose it stays.
    """
    for node in model.graph.node:
        if is_standard(node, *RESIZES):
            _write(node, {"mode": "nearest"})
        if is_standard(node, *CONVOLUTIONS, *POOLS):
            spatial = _write_sizes(model, node)
            if spatial and (node.op_type != "AveragePool" or attribute(node, "auto_pad") is not None):
                _write_padding(model, node, spatial)


def _write_sizes(model: ModelWrapper, node: NodeProto) -> int:
    """Write the size of the window and its strides, and return how many axes it has; 0 where it is not known."""
    if node.op_type in POOLS:
        axes = len(attribute(node, "kernel_shape"))
        if node.op_type == "MaxPool":
            _write(node, {"strides": [1] * axes})
        return axes
    shape = model.get_tensor_shape(node.input[1])
    if shape is None or len(shape) < 3:
        return 0
    ones = [1] * (len(shape) - 2)
    _write(node, {"kernel_shape": shape[2:], "strides": ones, "dilations": ones, "group": 1})
    return len(ones)


def _write_padding(model: ModelWrapper, node: NodeProto, spatial: int) -> None:
    mode = attribute(node, "auto_pad")
    if mode in (b"SAME_UPPER", b"SAME_LOWER"):
        shape = model.get_tensor_shape(node.input[0])
        if node.op_type == "ConvTranspose" or shape is None or len(shape) != spatial + 2:
            return
        pads = _same(node, shape[2:], mode == b"SAME_UPPER")
        if pads is None:
            return
    else:
        pads = [0] * (2 * spatial)
    _write(node, {"pads": pads})
    if mode is not None:
        node.attribute.remove(get_by_name(node.attribute, "auto_pad"))


def _same(node: NodeProto, image: list[int], upper: bool) -> list[int] | None:
    """Return the padding with which a window gives image / stride values, rounded up, along each axis.

    None of a pool whose windows leave out two values or more: ONNX Runtime moves them, which no padding says.
    """
    ones = [1] * len(image)
    kernel, strides, dilations = (
        attribute(node, name, ones) for name in ("kernel_shape", "strides", "dilations")
    )
    totals = [
        (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size
        for size, taps, stride, dilation in zip(image, kernel, strides, dilations, strict=True)
    ]
    if node.op_type in POOLS and min(totals) < -1:
        return None
    totals = [max(0, total) for total in totals]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return [*less, *more] if upper else [*more, *less]


def _write(node: NodeProto, defaults: dict[str, Any]) -> None:
    from onnx import helper

    for name, value in defaults.items():
        if attribute(node, name) is None:
            node.attribute.append(helper.make_attribute(name, value))
