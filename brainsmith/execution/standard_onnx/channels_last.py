"""QONNX's operators whose images have their channels in the last axis: standard ones between transposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.operator_names import CHANNELS_LAST

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


@rewrites(CHANNELS_LAST, "Conv", "MaxPool", "BatchNormalization")
def rewrite_channels_last(view: NodeView, emit: Emitter) -> None:
    """Write the operator with its image, and a Conv's weights too, with the channels in axis 1.

    Raises:
        ModelError: A Conv's weights change.
    """
    rank = len(view.shape(view.inputs[0]))
    to_first, to_last = [0, rank - 1, *range(1, rank - 1)], [0, *range(2, rank), 1]
    inputs = [emit.add("Transpose", [view.inputs[0]], perm=to_first), *view.inputs[1:]]
    if view.kind == "Conv":
        weights = np.moveaxis(view.needed_constant(1, "weights"), -1, 1)
        inputs[1] = emit.constant(weights, "weights")
    attributes = {attribute.name: view.attribute(attribute.name) for attribute in view.node.attribute}
    result = emit.add(view.kind, inputs, **attributes)
    emit.add("Transpose", [result], view.outputs[0], perm=to_last)
    if view.kind == "MaxPool" and (span := view.span(view.inputs[0])) is not None:
        view.prove(view.outputs[0], *span)
