"""What an exporter left to defaults, or to ONNX to work out, of convolutions and pools, is written into the node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

CONVOLUTIONS = ("Conv", "ConvTranspose")
POOLS = ("MaxPool", "AveragePool")


def write_out_defaults(model: ModelWrapper) -> None:
    """Write into convolutions and pools, in place, what later steps read: sizes, strides, and padding as numbers.

    `auto_pad`, as TensorFlow's exporters write it, becomes `pads`; of a ConvTranspose it stays.
    """
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or node.op_type not in (*CONVOLUTIONS, *POOLS):
            continue
        spatial = _write_sizes(model, node)
        if spatial and (node.op_type != "AveragePool" or _attribute(node, "auto_pad") is not None):
            _write_padding(model, node, spatial)


def _write_sizes(model: ModelWrapper, node: NodeProto) -> int:
    """Write the size of the window and its strides, and return how many axes it has; 0 where it is not known."""
    if node.op_type in POOLS:
        kernel = _attribute(node, "kernel_shape")
        if node.op_type == "MaxPool":
            _write(node, {"strides": [1] * len(kernel.ints)})
        return len(kernel.ints)
    shape = model.get_tensor_shape(node.input[1])
    if shape is None or len(shape) < 3:
        return 0
    ones = [1] * (len(shape) - 2)
    _write(node, {"kernel_shape": shape[2:], "strides": ones, "dilations": ones, "group": 1})
    return len(ones)


def _write_padding(model: ModelWrapper, node: NodeProto, spatial: int) -> None:
    automatic = _attribute(node, "auto_pad")
    mode = b"NOTSET" if automatic is None else automatic.s
    if mode in (b"SAME_UPPER", b"SAME_LOWER"):
        shape = model.get_tensor_shape(node.input[0])
        if node.op_type == "ConvTranspose" or shape is None or len(shape) != spatial + 2:
            return
        pads = _same(node, shape[2:], mode == b"SAME_UPPER")
    else:
        pads = [0] * (2 * spatial)
    _write(node, {"pads": pads})
    if automatic is not None:
        node.attribute.remove(automatic)


def _same(node: NodeProto, image: list[int], upper: bool) -> list[int]:
    """Return the padding with which a window gives image / stride values, rounded up, along each axis."""
    kernel = _numbers(node, "kernel_shape", len(image))
    strides, dilations = _numbers(node, "strides", len(image)), _numbers(node, "dilations", len(image))
    totals = [
        max(0, (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size)
        for size, taps, stride, dilation in zip(image, kernel, strides, dilations, strict=True)
    ]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return [*less, *more] if upper else [*more, *less]


def _numbers(node: NodeProto, name: str, count: int) -> list[int]:
    found = _attribute(node, name)
    return [1] * count if found is None else list(found.ints)


def _attribute(node: NodeProto, name: str) -> Any:
    return next((entry for entry in node.attribute if entry.name == name), None)


def _write(node: NodeProto, defaults: dict[str, Any]) -> None:
    from onnx import helper

    for name, value in defaults.items():
        if _attribute(node, name) is None:
            node.attribute.append(helper.make_attribute(name, value))
