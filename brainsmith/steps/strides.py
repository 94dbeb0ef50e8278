"""Strides of windows that are at one place only: there they say nothing, and FINN's circuits refuse large ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

WINDOWS = ("AveragePool", "Conv", "MaxPool")


def drop_strides_of_single_windows(model: ModelWrapper) -> ModelWrapper:
    """Make, in place, the stride 1 along each axis on which a window just covers its padded image.

    Where the image is larger by no more than the padding at its end, which no window reads, that is cut first.
    """
    for node in model.graph.node:
        if node.op_type in WINDOWS and node.domain in ("", "ai.onnx"):
            _drop(model, node)
    return model


def _drop(model: ModelWrapper, node: NodeProto) -> None:
    shape, result = model.get_tensor_shape(node.input[0]), model.get_tensor_shape(node.output[0])
    present = {attribute.name: attribute for attribute in node.attribute}
    automatic = present.get("auto_pad")
    padded = automatic is not None and automatic.s not in (b"NOTSET", b"")
    if padded or shape is None or result is None or "strides" not in present or "kernel_shape" not in present:
        return
    axes = len(shape) - 2
    strides, pads = present["strides"].ints, _ints(present, "pads", 2 * axes, 0)
    dilations, kernel = _ints(present, "dilations", axes, 1), present["kernel_shape"].ints
    for axis in range(axes):
        covered = (kernel[axis] - 1) * dilations[axis] + 1
        spare = shape[2 + axis] + pads[axis] + pads[axes + axis] - covered
        if result[2 + axis] != 1 or strides[axis] == 1 or not 0 <= spare <= pads[axes + axis]:
            continue
        strides[axis] = 1
        if spare:
            pads[axes + axis] -= spare
            present["pads"].ints[:] = pads


def _ints(present: dict[str, Any], name: str, count: int, default: int) -> list[int]:
    return list(present[name].ints) if name in present else [default] * count
