"""Refuse windows over a batch of several images: convolutions and pools slide over one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import ModelError
from brainsmith.graph.well_formed import node_text

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

WINDOWS = ("AveragePool", "Conv", "ConvTranspose", "MaxPool")


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
