"""Refuse windows over a batch of several images, and convolutions over anything but images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.steps.conversion_limits import refuse_nodes

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

_ONE_MORE = "\n  give the model a second dimension, of length 1: inputs of (1, channels, length, 1), kernels of (k, 1)"


def check_window_batches(model: ModelWrapper) -> None:
    """Raise if a convolution or pool reads several images at once.

    QONNX lowers them to windows of one image, whatever the batch is, so what comes out would not fit the rest.

    Raises:
        ModelError: One does; the first is named, with its batch.
    """
    refuse_nodes(model, dict.fromkeys(("AveragePool", "Conv", "ConvTranspose", "MaxPool"), _batch))


def check_window_dimensions(model: ModelWrapper) -> None:
    """Raise if a convolution slides over something else than images.

    Raises:
        ModelError: One does; the first is named, with its dimensions.
    """
    refuse_nodes(model, dict.fromkeys(("Conv", "ConvTranspose"), _dimensions))


def _batch(model: ModelWrapper, node: NodeProto) -> str:
    shape = model.get_tensor_shape(node.input[0])
    if not shape or shape[0] == 1:
        return ""
    return (
        f"reads a batch of {shape[0]} images, and its windows slide over one at a time\n"
        "  export the model with a batch of 1: the circuit takes one image after the other"
    )


def _dimensions(model: ModelWrapper, node: NodeProto) -> str:
    shape = model.get_tensor_shape(node.input[0])
    if not shape or len(shape) == 4:
        return ""
    dimensions = plural(len(shape) - 2, "dimension")
    return f"slides over {dimensions}, and layers slide over 2{_ONE_MORE if len(shape) == 3 else ''}"
