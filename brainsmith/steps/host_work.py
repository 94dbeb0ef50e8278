"""Warn of what is left to the host and is more than one operation for each value."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from brainsmith.graph.well_formed import node_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

OF_ELEMENTS = (
    "Abs", "Add", "BatchNormalization", "BipolarQuant", "Cast", "Ceil", "Clip", "Div", "Elu", "Exp", "Floor",
    "HardSigmoid", "Identity", "IntQuant", "LeakyRelu", "Mul", "MultiThreshold", "Neg", "PRelu", "Quant", "Relu",
    "Round", "Selu", "Sigmoid", "Softplus", "Sqrt", "Sub", "Tanh", "Trunc",
)  # fmt: skip
"""What treats each value alone."""

MOVES = ("Flatten", "Gather", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""What computes nothing."""

_LOGGER = logging.getLogger(__name__)


def warn_of_host_work(model: ModelWrapper, is_hardware: Callable[[NodeProto], bool]) -> None:
    """Warn of the nodes that no layer computes, if some layers are there and it is more than scales and layouts.

    Args:
        model: With hardware layers.
        is_hardware: Tells which nodes those are.
    """
    left = [node for node in model.graph.node if not is_hardware(node)]
    work = [node_text(node) for node in left if node.op_type not in (*OF_ELEMENTS, *MOVES)]
    if work and len(left) < len(model.graph.node):
        _LOGGER.warning(
            "the host computes %s, which is more than one operation for each value: rate, latency and resources do not "
            "count it; put a quantiser after it, so that layers compute it where its operators have layers",
            ", ".join(work),
        )
