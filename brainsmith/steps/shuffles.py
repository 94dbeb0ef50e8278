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

    return model.transform(own_transform("InferShuffle")(where=ours))


def _exchanges_last(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a transpose exchanges the last two axes, those of length 1 aside, and leaves the others."""
    shape = model.get_tensor_shape(node.input[0])
    perm = attribute(node, "perm", list(range(len(shape)))[::-1])
    moved = [axis for axis in perm if shape[axis] > 1]
    kept = sorted(moved)
    return len(kept) > 1 and moved == [*kept[:-2], kept[-1], kept[-2]]
