"""Lower what combines values along axes."""

from __future__ import annotations

import numpy as np

from brainsmith.execution.lowering.products import type_of_bound
from brainsmith.execution.lowering.program_node import ProgramNode
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import reductions
from brainsmith.graph.node_view import Unsupported


@lowers("", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")
def reduce(node: ProgramNode) -> None:
    """Reduce axes, sums of whole numbers exactly."""
    name = node.op_type.removeprefix("Reduce")
    shape = node.shape(node.inputs[0])
    axes = _axes(node, len(shape))
    span = node.span(node.inputs[0])
    terms = int(np.prod([shape[axis] for axis in axes]))
    exact = node.dtype(node.inputs[0]).name
    if name in ("Mean", "Prod") or (name == "Sum" and span is None):
        node.rounds_differently()
    if name == "Sum" and span is not None and exact == "float32":
        bound = terms * max(map(abs, span))
        exact = type_of_bound(bound)
        if exact != "int64":
            node.prove(node.outputs[0], min(0, terms * span[0]), max(0, terms * span[1]))
    keep = bool(node.attribute("keepdims", 1))
    node.emit(reductions.reduce, node.inputs[:1], node.outputs, name=name, axes=axes, keep=keep, exact=exact)
    if name in ("Max", "Min"):
        node.prove_moved()
        node.treats_ends_differently()


def _axes(node: ProgramNode, rank: int) -> tuple[int, ...]:
    stated = node.attribute("axes", None)
    if stated is None and node.given(1):
        stated = tuple(map(int, node.needed_constant(1, "axes")))
    if not stated:
        if node.attribute("noop_with_empty_axes", 0):
            raise Unsupported("it reduces nothing")
        return tuple(range(rank))
    return tuple(sorted(int(axis) % rank for axis in stated))


@lowers("", "ArgMax", "ArgMin")
def arg_extreme(node: ProgramNode) -> None:
    """Find the place of the largest or smallest value."""
    shape = node.shape(node.inputs[0])
    axis = node.attribute("axis", 0) % len(shape)
    node.emit(
        reductions.place_of_extreme,
        node.inputs,
        node.outputs,
        axis=axis,
        keep=bool(node.attribute("keepdims", 1)),
        last=bool(node.attribute("select_last_index", 0)),
        largest=node.op_type == "ArgMax",
    )
    node.prove(node.outputs[0], 0, shape[axis] - 1)
    if node.span(node.inputs[0]) is None:
        node.treats_ends_differently()


@lowers("", "TopK")
def top_k(node: ProgramNode) -> None:
    """Find the largest values and their places."""
    shape = node.shape(node.inputs[0])
    axis = node.attribute("axis", -1) % len(shape)
    count = node.attribute("k", None) if node.opset < 10 else node.needed_constant(1, "k").item()
    largest = bool(node.attribute("largest", 1))
    node.emit(reductions.top, node.inputs[:1], node.outputs, count=int(count), axis=axis, largest=largest)
    span = node.span(node.inputs[0])
    if span and node.outputs[0]:
        node.prove(node.outputs[0], *span)
    if node.outputs[1]:
        node.prove(node.outputs[1], 0, shape[axis] - 1)
    if span is None:
        node.treats_ends_differently()


@lowers("", "Softmax", "LogSoftmax")
def softmax(node: ProgramNode) -> None:
    """Divide powers of e by their sum."""
    node.rounds_differently()
    rank = len(node.shape(node.inputs[0]))
    if node.opset < 13:
        axes = tuple(range(node.attribute("axis", 1) % rank, rank))
    else:
        axes = (node.attribute("axis", -1) % rank,)
    logarithm = node.op_type == "LogSoftmax"
    node.emit(reductions.softmax, node.inputs, node.outputs, axes=axes, logarithm=logarithm)


@lowers("", "LayerNormalization")
def layer_normalisation(node: ProgramNode) -> None:
    """Normalise to mean 0 and variance 1."""
    node.rounds_differently()
    if len([name for name in node.outputs if name]) > 1:
        raise Unsupported("it gives mean and deviation")
    axis = node.attribute("axis", -1) % len(node.shape(node.inputs[0]))
    bias = node.inputs[2] if node.given(2) else ""
    if node.varies(node.inputs[1]) or node.varies(bias):
        raise Unsupported("its scale is no constant")
    epsilon = float(node.attribute("epsilon", 1e-5))
    values = [node.inputs[0], node.inputs[1], bias]
    node.emit(reductions.layer_norm, values, node.outputs, axis=axis, epsilon=epsilon)
