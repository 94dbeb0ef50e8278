"""When and in which order layers give and take values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.info import FINN_RTL

if TYPE_CHECKING:
    from collections.abc import Mapping

_EARLY = ("FMPadding", "Pad1D")
"""FINN's kernels that may begin a frame before their first input beat."""

_WINDOWS = "ConvolutionInputGenerator"
"""FINN's sliding windows."""

_TAKE_WINDOWS = ("Pool", "VVAU")
"""FINN's kernels whose RTL takes the windows of `PE` channels at a time."""

_SAME_ORDER = ("StreamingDataWidthConverter", "StreamingFIFO")
"""Layers that give values in the order in which they take them."""


def early_layers(nodes: Mapping[str, Any]) -> set[str]:
    """Return the layers that may give beats of a frame that is not fed; a plugin's says so itself (`early = True`).

    Args:
        nodes: QONNX's instances of the layers, by their names.
    """
    makers = {tensor: layer for layer in nodes.values() for tensor in layer.onnx_node.output}
    return {name for name, layer in nodes.items() if _is_early(layer) or _begins_in_padding(layer, makers)}


def _is_early(layer: Any) -> bool:
    return layer.onnx_node.op_type.startswith(_EARLY) or bool(getattr(layer, "early", False))


def _begins_in_padding(layer: Any, makers: Mapping[str, Any]) -> bool:
    """Tell whether the first window of a layer holds several pixels, all of which padding gives before its image."""
    padding = _giver(layer, makers) if layer.onnx_node.op_type.startswith(_WINDOWS) else None
    if padding is None or not padding.onnx_node.op_type.startswith("FMPadding_"):
        return False
    kernel = layer.get_nodeattr("ConvKernelDim")
    top, left, *_ = padding.get_nodeattr("Padding")
    row, column = ((size - 1) * by for size, by in zip(kernel, layer.get_nodeattr("Dilation"), strict=True))
    return prod(kernel) > 1 and (row, column) < (top, left)


def check_windows(nodes: Mapping[str, Any]) -> None:
    """Refuse layers that take windows in another order than the sliding window in front gives them.

    A depthwise sliding window gives the windows of its first `SIMD` channels, then those of the next; any other gives
    all channels of a position, then those of the next.

    Args:
        nodes: QONNX's instances of the layers, by their names.

    Raises:
        BuildError: All layers that do, and what to do.
    """
    makers = {tensor: layer for layer in nodes.values() for tensor in layer.onnx_node.output}
    takers = [layer for layer in nodes.values() if _takes_windows(layer)]
    wrong = [text for text in (_other_order(layer, makers) for layer in takers) if text]
    if wrong:
        lines = "".join(f"\n  {line}" for line in wrong)
        raise BuildError(
            f"windows would be mixed up:{lines}\n  fold both layers alike, the sliding window with depthwise = 1"
        )


def _takes_windows(layer: Any) -> bool:
    """Tell whether a layer is RTL of one of these kernels: a backend derives from its kernel, whatever it is called."""
    names = {cls.__name__ for cls in type(layer).__mro__}
    return layer.onnx_node.domain == FINN_RTL and not names.isdisjoint(_TAKE_WINDOWS)


def _giver(layer: Any, makers: Mapping[str, Any]) -> Any:
    """Return the layer whose values a layer takes in the order in which they are given; None if there is none."""
    maker = makers.get(layer.onnx_node.input[0])
    while maker is not None and maker.onnx_node.op_type.startswith(_SAME_ORDER):
        maker = makers.get(maker.onnx_node.input[0])
    return maker


def _other_order(taker: Any, makers: Mapping[str, Any]) -> str:
    """Say how a layer and the sliding window in front differ; empty if they do not, or if there is none."""
    maker = _giver(taker, makers)
    if maker is None or not maker.onnx_node.op_type.startswith(_WINDOWS):
        return ""
    channels = maker.get_nodeattr("IFMChannels")
    given = maker.get_nodeattr("SIMD") if maker.get_nodeattr("depthwise") else channels
    wanted = taker.get_nodeattr("PE")
    if given == wanted or prod(maker.get_nodeattr("ConvKernelDim")) == 1:
        return ""
    return (
        f"{taker.onnx_node.name} takes windows of {wanted} channels at a time (PE), and {maker.onnx_node.name} gives "
        f"those of {given}"
    )
