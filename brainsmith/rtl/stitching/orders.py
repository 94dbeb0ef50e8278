"""When and in which order layers give and take values."""

from __future__ import annotations

from math import prod
from typing import Any

_EARLY = ("FMPadding", "Pad1D")
"""FINN's kernels that may begin a frame before their first input beat."""

_BY_CHANNEL = {"Pool": "KernelSize", "VVAU": "Kernel"}
"""Kernels that take windows channel by channel, and what says how large a window is."""


def input_window(layer: Any, index: int) -> int:
    """Return how many values of each channel an input has, where they come channel by channel; else 1.

    Args:
        layer: QONNX's instance of a node.
        index: Of the input.
    """
    attribute = _BY_CHANNEL.get(layer.onnx_node.op_type.rpartition("_")[0])
    return prod(layer.get_nodeattr(attribute)) if attribute and index == 0 else 1


def output_window(layer: Any) -> int:
    """Return the same of a layer's output: a depthwise sliding window gives its channels one after the other."""
    if not layer.onnx_node.op_type.startswith("ConvolutionInputGenerator") or not layer.get_nodeattr(
        "depthwise"
    ):
        return 1
    return prod(layer.get_nodeattr("ConvKernelDim"))


def is_early(layer: Any) -> bool:
    """Tell whether a layer may give beats of a frame that is not fed; a plugin's says so itself (`early = True`)."""
    return layer.onnx_node.op_type.startswith(_EARLY) or bool(getattr(layer, "early", False))
