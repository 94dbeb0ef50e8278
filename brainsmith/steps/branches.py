"""Streamline models with branches: scales and layouts move past forks, and past the sums where branches meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.steps.concat_scales import ChannelwiseBeforeConcat
from brainsmith.steps.own_transforms import own_transform, transformed

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

CHANNELS_LAST = (0, 2, 3, 1)
CHANNELS_FIRST = (0, 3, 1, 2)
PARTED = ("Split", "Concat")


def forks(model: ModelWrapper) -> bool:
    """Tell whether any node's result has several consumers, or is parted or put together."""
    return any(model.is_fork_node(node) or node.op_type in PARTED for node in model.graph.node)


def scales_past_forks(model: ModelWrapper) -> ModelWrapper:
    """Move scales past forks into the branches, and equal ones past the sums in which the branches meet.

    Those after the sums are left to the caller's Streamline.
    """
    from finn.transformation.streamline import Streamline
    from finn.transformation.streamline.reorder import (
        MoveAffinePastJoinConcat,
        MoveLinearPastEltwiseAdd,
        MoveLinearPastFork,
        MoveScalarLinearPastSplit,
    )

    # Twice past forks: streamlining brings further scales to them, and a scale that forks must not be moved
    # past a sum, because FINN would take it from its other consumers.
    past_forks = (MoveLinearPastFork(), MoveScalarLinearPastSplit())
    past_joins = (MoveLinearPastEltwiseAdd(), ChannelwiseBeforeConcat(), MoveAffinePastJoinConcat())
    moves = (*past_forks, Streamline(), *past_forks, *past_joins, own_transform("SortGraph")())
    before: list[str] = []
    # A scale may come to a fork past a sum: then there is another round.
    while not before or (before != _kinds(model) and _scale_in_front_of_fork(model)):
        before = _kinds(model)
        model = transformed(model, *moves)
    return model


def _scale_in_front_of_fork(model: ModelWrapper) -> bool:
    scales = [node for node in model.graph.node if node.op_type in ("Add", "Mul")]
    return any(model.is_fork_node(node) and not model.is_join_node(node) for node in scales)


def part_forked_pools(model: ModelWrapper) -> ModelWrapper:
    """Put two layout changes that cancel out after each MaxPool that forks, in place.

    FINN's MakeMaxPoolNHWC looks at one consumer only, and would feed the others with what goes into the pool.
    """
    from onnx import helper

    for node in [node for node in model.graph.node if node.op_type == "MaxPool" and model.is_fork_node(node)]:
        shape = model.get_tensor_shape(node.output[0])
        result = node.output[0]
        names = []
        for order in ((0, 1, 2, 3), CHANNELS_LAST):
            names.append(model.make_new_valueinfo_name())
            model.set_tensor_shape(names[-1], [shape[axis] for axis in order])
        node.output[0] = names[0]
        last = helper.make_node("Transpose", [names[0]], [names[1]], perm=CHANNELS_LAST)
        first = helper.make_node("Transpose", [names[1]], [result], perm=CHANNELS_FIRST)
        at = list(model.graph.node).index(node) + 1
        model.graph.node.insert(at, first)
        model.graph.node.insert(at, last)
    return model


def transposes_past_forks(model: ModelWrapper) -> ModelWrapper:
    """Move the layout changes that lowered convolutions leave past forks and sums, to where they cancel out."""
    from finn.transformation.streamline.absorb import (
        AbsorbConsecutiveTransposes,
        AbsorbTransposeIntoMultiThreshold,
    )
    from finn.transformation.streamline.reorder import (
        MakeMaxPoolNHWC,
        MoveTransposePastFork,
        MoveTransposePastJoinAdd,
        MoveTransposePastJoinConcat,
        MoveTransposePastSplit,
    )

    past_forks = (MoveTransposePastFork(), MoveTransposePastSplit())
    past_joins = (MoveTransposePastJoinAdd(), MoveTransposePastJoinConcat())
    past_layers = (AbsorbTransposeIntoMultiThreshold(), MakeMaxPoolNHWC(), own_transform("SortGraph")())
    moves = (*past_forks, AbsorbConsecutiveTransposes(), *past_joins, *past_layers)
    before: list[str] = []
    while before != _kinds(model):
        before = _kinds(model)
        model = transformed(model, *moves)
    return merge_equal_transposes(model)


def merge_equal_transposes(model: ModelWrapper) -> ModelWrapper:
    """Let layout changes that do the same to the same tensor be one, before the fork, in place.

    One that gives an output of the graph stays.
    """
    first: dict[tuple[str, bytes], str] = {}
    outputs = {value.name for value in model.graph.output}
    for node in [node for node in model.graph.node if node.op_type == "Transpose"]:
        order = b"".join(entry.SerializeToString() for entry in node.attribute)  # none reverses the axes
        known = first.setdefault((node.input[0], order), node.output[0])
        consumers = model.find_consumers(node.output[0])
        if known == node.output[0] or node.output[0] in outputs or consumers == []:
            continue
        for consumer in consumers:
            for at, name in enumerate(consumer.input):
                if name == node.output[0]:
                    consumer.input[at] = known
        model.graph.node.remove(node)
    return model


def _kinds(model: ModelWrapper) -> list[str]:
    return [node.op_type for node in model.graph.node]
