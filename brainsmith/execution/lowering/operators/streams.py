"""Hardware layers that only move values: FIFOs, forks, joins, shuffles, crops, look-ups."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from brainsmith.execution.lowering.hardware import (
    FINN,
    QONNX,
    emit_reshaped,
    needed,
    prove_moved,
)
from brainsmith.execution.lowering.node_view import NotLowered
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import shapes
from brainsmith.figures import plural

if TYPE_CHECKING:
    from brainsmith.execution.lowering.node_view import NodeView

CROPPED = (2, 3, 4)
"""Ranks of the tensors that FINN crops: (W, C), (H, W, C), (N, H, W, C)."""


@lowers(FINN, "StreamingFIFO", "StreamingDataWidthConverter", "Reshape", "Squeeze", "Unsqueeze")
@lowers(f"{FINN}.rtl", "Reshape_rtl")  # FINN does not enter its kernel among the others
def pass_on(node: NodeView) -> None:
    """Give the values as they are, in the shape that the graph states."""
    if prod(node.shape(node.inputs[0])) != prod(node.shape(node.outputs[0])):
        raise NotLowered("the graph states another size")
    emit_reshaped(node, node.inputs[0])
    prove_moved(node)


@lowers(FINN, "DuplicateStreams", "ReplicateStream")
def fork(node: NodeView) -> None:
    """Give the values to all outputs."""
    for name in filter(None, node.outputs):
        node.emit(shapes.reshape, node.inputs, [name], shape=node.shape(name))
    prove_moved(node)


@lowers(QONNX, "DebugMarker")
def mark(node: NodeView) -> None:
    """Pass on; the copy under another name is for QONNX's own execution."""
    node.emit(shapes.same, node.inputs, node.outputs)
    prove_moved(node)


@lowers(FINN, "StreamingConcat")
def join(node: NodeView) -> None:
    """Join on the last axis."""
    if not all(node.varies(name) for name in node.inputs):
        raise NotLowered("it joins a constant")
    rank = len(node.shape(node.inputs[0]))
    node.emit(shapes.concatenate, node.inputs, node.outputs, shapes=(None,) * len(node.inputs), axis=rank - 1)
    spans = [node.span(name) for name in node.inputs]
    known = [span for span in spans if span is not None]
    if len(known) == len(spans):
        low, high = min(span[0] for span in known), max(span[1] for span in known)
        bipolar = all(node.datatype(name) == "BIPOLAR" for name in node.inputs) and (low, high) == (-1, 1)
        node.prove(node.outputs[0], low, high, bipolar)


@lowers(FINN, "StreamingSplit")
def part(node: NodeView) -> None:
    """Split on the last axis."""
    rank = len(node.shape(node.inputs[0]))
    sizes = tuple(needed(node, "ChannelsPerStream"))
    node.emit(shapes.split, node.inputs, node.outputs, sizes=sizes, axis=rank - 1)
    prove_moved(node)


@lowers(FINN, "Shuffle", "OuterShuffle")
def shuffle(node: NodeView) -> None:
    """Reshape, transpose, reshape."""
    inner = node.emit(shapes.reshape, node.inputs, shape=tuple(needed(node, "transpose_in_shape")))
    moved = node.emit(shapes.transpose, [inner], order=tuple(needed(node, "perm")))
    node.emit(shapes.reshape, [moved], node.outputs, shape=tuple(needed(node, "out_shape")))
    prove_moved(node)


@lowers(FINN, "InnerShuffle")
def inner_shuffle(node: NodeView) -> None:
    """Reshape, and exchange the last two axes."""
    shape = tuple(needed(node, "transpose_in_shape"))
    inner = node.emit(shapes.reshape, node.inputs, shape=shape)
    order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
    node.emit(shapes.transpose, [inner], node.outputs, order=order)
    prove_moved(node)


@lowers(FINN, "Crop")
def crop(node: NodeView) -> None:
    """Cut a window out of the two axes in front of the channels."""
    shape = node.shape(node.inputs[0])
    if len(shape) not in CROPPED:
        raise NotLowered(f"it crops a tensor of {plural(len(shape), 'axis', 'axes')}")
    height, width = needed(node, "ImgDim")
    rows = (node.attribute("CropNorth", 0), height - node.attribute("CropSouth", 0))
    columns = (node.attribute("CropWest", 0), width - node.attribute("CropEast", 0))
    limits = ([(0, shape[0])] * (len(shape) == CROPPED[-1])) + [rows, columns, (0, shape[-1])]
    if len(shape) == CROPPED[0]:
        limits = [columns, (0, shape[-1])]
    _cut(node, limits)


@lowers(FINN, "SelectToken")
def select_token(node: NodeView) -> None:
    """Take one entry of the second axis."""
    shape = node.shape(node.inputs[0])
    token = needed(node, "TokenIndex") % needed(node, "NumTokens")
    _cut(node, [(0, shape[0]), (token, token + 1), (0, shape[2])])


def _cut(node: NodeView, limits: list[tuple[int, int]]) -> None:
    starts, ends = zip(*limits, strict=True)
    cut = node.emit(shapes.slices, node.inputs, starts=starts, ends=ends, steps=(1,) * len(starts))
    emit_reshaped(node, cut)
    prove_moved(node)


@lowers(FINN, "Lookup")
def look_up(node: NodeView) -> None:
    """Take rows of a table."""
    node.needed_constant(1, "table")
    table = node.inputs[1]
    found = node.emit(shapes.look_up, [table, node.inputs[0]], axis=0)
    emit_reshaped(node, found)
    span = node.span(table)
    if span is not None:
        node.prove(node.outputs[0], *span)
