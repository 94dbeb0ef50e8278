"""Hardware layers that only move values: FIFOs, forks, joins, shuffles, crops, look-ups."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import shapes
from brainsmith.figures import plural
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode

CROPPED = (2, 3, 4)
"""Ranks of the tensors that FINN crops: (W, C), (H, W, C), (N, H, W, C)."""


@lowers(FINN, "StreamingFIFO", "StreamingDataWidthConverter", "Reshape", "Squeeze", "Unsqueeze")
def pass_on(node: ProgramNode) -> None:
    """Give the values as they are, in the shape that the graph states."""
    if prod(node.shape(node.inputs[0])) != prod(node.shape(node.outputs[0])):
        raise Unsupported("the graph states another size")
    emit_reshaped(node, node.inputs[0])
    node.prove_moved()


@lowers(FINN, "DuplicateStreams", "ReplicateStream")
def fork(node: ProgramNode) -> None:
    """Give the values to all outputs."""
    for name in filter(None, node.outputs):
        node.emit(shapes.reshape, node.inputs, [name], shape=node.shape(name))
    node.prove_moved()


@lowers(QONNX, "DebugMarker")
def mark(node: ProgramNode) -> None:
    """Pass on; the copy under another name is for QONNX's own execution."""
    node.emit(shapes.same, node.inputs, node.outputs)
    node.prove_moved()


@lowers(FINN, "StreamingConcat")
def join(node: ProgramNode) -> None:
    """Join on the last axis."""
    if not all(node.varies(name) for name in node.inputs):
        raise Unsupported("it joins a constant")
    rank = len(node.shape(node.inputs[0]))
    node.emit(shapes.concatenate, node.inputs, node.outputs, shapes=(None,) * len(node.inputs), axis=rank - 1)
    node.prove_joined(node.inputs)


@lowers(FINN, "StreamingSplit")
def part(node: ProgramNode) -> None:
    """Split on the last axis."""
    rank = len(node.shape(node.inputs[0]))
    sizes = tuple(node.needed("ChannelsPerStream"))
    node.emit(shapes.split, node.inputs, node.outputs, sizes=sizes, axis=rank - 1)
    node.prove_moved()


@lowers(FINN, "Shuffle", "OuterShuffle")
def shuffle(node: ProgramNode) -> None:
    """Reshape, transpose, reshape."""
    inner = node.emit(shapes.reshape, node.inputs, shape=tuple(node.needed("transpose_in_shape")))
    moved = node.emit(shapes.transpose, [inner], order=tuple(node.needed("perm")))
    node.emit(shapes.reshape, [moved], node.outputs, shape=tuple(node.needed("out_shape")))
    node.prove_moved()


@lowers(FINN, "InnerShuffle")
def inner_shuffle(node: ProgramNode) -> None:
    """Reshape, and exchange the last two axes."""
    shape = tuple(node.needed("transpose_in_shape"))
    inner = node.emit(shapes.reshape, node.inputs, shape=shape)
    order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    node.emit(shapes.transpose, [inner], node.outputs, order=order)
    node.prove_moved()


@lowers(FINN, "Crop")
def crop(node: ProgramNode) -> None:
    """Cut a window out of the two axes in front of the channels."""
    shape = node.shape(node.inputs[0])
    if len(shape) not in CROPPED:
        raise Unsupported(f"it crops a tensor of {plural(len(shape), 'axis', 'axes')}")
    height, width = node.needed("ImgDim")
    rows = (node.attribute("CropNorth", 0), height - node.attribute("CropSouth", 0))
    columns = (node.attribute("CropWest", 0), width - node.attribute("CropEast", 0))
    limits = ([(0, shape[0])] * (len(shape) == CROPPED[-1])) + [rows, columns, (0, shape[-1])]
    if len(shape) == CROPPED[0]:
        limits = [columns, (0, shape[-1])]
    _cut(node, limits)


@lowers(FINN, "SelectToken")
def select_token(node: ProgramNode) -> None:
    """Take one entry of the second axis."""
    shape = node.shape(node.inputs[0])
    token = node.needed("TokenIndex") % node.needed("NumTokens")
    _cut(node, [(0, shape[0]), (token, token + 1), (0, shape[2])])


def _cut(node: ProgramNode, limits: list[tuple[int, int]]) -> None:
    starts, ends = zip(*limits, strict=True)
    cut = node.emit(shapes.slices, node.inputs, starts=starts, ends=ends, steps=(1,) * len(starts))
    emit_reshaped(node, cut)
    node.prove_moved()


@lowers(FINN, "Lookup")
def look_up(node: ProgramNode) -> None:
    """Take rows of a table."""
    node.needed_constant(1, "table")
    table = node.inputs[1]
    found = node.emit(shapes.look_up, [table, node.inputs[0]], axis=0)
    emit_reshaped(node, found)
    span = node.span(table)
    if span is not None:
        node.prove(node.outputs[0], *span)
