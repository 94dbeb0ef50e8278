"""Refuse windows over a batch of several images, and convolutions over anything but images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ModelError
from brainsmith.figures import plural
from brainsmith.graph.well_formed import node_text

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

WINDOWS = ("AveragePool", "Conv", "ConvTranspose", "MaxPool")

_ONE_MORE = "\n  give the model a second dimension, of length 1: inputs of (1, channels, length, 1), kernels of (k, 1)"


def check_window_batches(model: ModelWrapper) -> None:
    """Raise if a convolution or pool reads several images at once.

    QONNX lowers them to windows of one image, whatever the batch is, so what comes out would not fit the rest.

    Raises:
        ModelError: One does; the first is named, with its batch.
    """
    for node in model.graph.node:
        shape = model.get_tensor_shape(node.input[0]) if node.op_type in WINDOWS else None
        if shape and shape[0] != 1:
            raise ModelError(
                f"{node_text(node)} reads a batch of {shape[0]} images, and its windows slide over one at a time\n"
                "  export the model with a batch of 1: the circuit takes one image after the other"
            )


def check_window_dimensions(model: ModelWrapper) -> None:
    """Raise if a convolution slides over something else than images.

    Raises:
        ModelError: One does; the first is named, with its dimensions.
    """
    for node in model.graph.node:
        shape = model.get_tensor_shape(node.input[0]) if node.op_type in ("Conv", "ConvTranspose") else None
        if shape and len(shape) != 4:
            raise ModelError(
                f"{node_text(node)} slides over {plural(len(shape) - 2, 'dimension')}, and layers slide over 2"
                f"{_ONE_MORE if len(shape) == 3 else ''}"
            )
