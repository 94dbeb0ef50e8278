"""Bring pooling into the forms that FINN infers: max-pools of quantised values, means over all pixels as pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

PIXELS = (2, 3)
"""The axes of an image's height and width in NCHW."""


def spatial_means_to_pools(model: ModelWrapper) -> ModelWrapper:
    """Turn each mean over height and width, (N, C, H, W) to (N, C) or (N, C, 1, 1), into a GlobalAveragePool."""
    import numpy as np
    from onnx import helper

    from brainsmith.transforms.graph_view import GraphView, attribute
    from brainsmith.transforms.reduced_axes import reduced_axes

    if not any(node.op_type == "ReduceMean" for node in model.graph.node):
        return model
    view = GraphView(model)
    for node in [node for node in model.graph.node if node.op_type == "ReduceMean"]:
        shape = model.get_tensor_shape(node.input[0])
        if shape is None or len(shape) != len(PIXELS) + 2 or reduced_axes(view, node) != PIXELS:
            continue
        result, at = node.output[0], list(model.graph.node).index(node)
        pooled = result if attribute(node, "keepdims", 1) else model.make_new_valueinfo_name()
        nodes = [helper.make_node("GlobalAveragePool", [node.input[0]], [pooled], name=f"{node.name}_pool")]
        if pooled != result:
            model.set_tensor_shape(pooled, [*shape[:2], 1, 1])
            form = view.add_constant(f"{node.name}_shape", np.asarray(shape[:2], np.int64))
            nodes.append(helper.make_node("Reshape", [pooled, form], [result], name=f"{node.name}_reshape"))
        model.graph.node.remove(node)
        for offset, new in enumerate(nodes):
            model.graph.node.insert(at + offset, new)
    return model


def pools_behind_thresholds(model: ModelWrapper) -> ModelWrapper:
    """Quantise before max-pools, not after: thresholds rise, so the greatest value is the same one.

    A pool of few bits is smaller, and a scale before it no longer keeps it from the hardware.
    """
    from finn.transformation.streamline.reorder import MoveMaxPoolPastMultiThreshold

    if not any(node.op_type == "MaxPool" for node in model.graph.node):
        return model
    return model.transform(MoveMaxPoolPastMultiThreshold())
