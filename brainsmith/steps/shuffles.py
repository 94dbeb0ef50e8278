"""Transposes between layers: this project's Shuffle does those that FINN has no RTL for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.steps.own_transforms import own_transform
from brainsmith.transforms.graph_view import attribute

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def shuffle_on_chip(model: ModelWrapper, wanted: Callable[[ModelWrapper, NodeProto], bool]) -> ModelWrapper:
    """Make Shuffle kernels of transposes, and of the reshapes around them.

    Those that exchange the last two axes, and no others, are left to FINN's InnerShuffle; for all others FINN has
    OuterShuffle, which is HLS.

    Args:
        model: Changed in place.
        wanted: Tells of a transpose whether it is to be a layer at all.
    """
    if not any(node.op_type == "Transpose" for node in model.graph.node):
        return model

    def ours(model: ModelWrapper, node: NodeProto) -> bool:
        return wanted(model, node) and not _exchanges_last(model, node)

    return model.transform(own_transform("InferShuffle")(ends=True, where=ours))


def _exchanges_last(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a transpose exchanges the last two axes and leaves the others.

    With an axis of length 1 between them it is FINN's OuterShuffle and InnerShuffle, though the first moves nothing.
    """
    axes = range(len(model.get_tensor_shape(node.input[0])))
    return list(attribute(node, "perm", [*axes][::-1])) == [*axes[:-2], axes[-1], axes[-2]]
