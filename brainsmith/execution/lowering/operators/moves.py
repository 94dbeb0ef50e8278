"""Lower what only moves values."""

from __future__ import annotations

from typing import Any

import numpy as np

from brainsmith.execution.lowering.program_node import ProgramNode
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import shapes
from brainsmith.graph.node_view import Unsupported


@lowers("", "Shape", "Size")
def shape(node: ProgramNode) -> None:
    """State the shape, which is the same for all inputs."""
    of = node.shape(node.inputs[0])
    value = (
        int(np.prod(of))
        if node.op_type == "Size"
        else of[node.attribute("start", 0) : node.attribute("end", None)]
    )
    node.constant_outputs[node.outputs[0]] = np.asarray(value, np.int64)


@lowers("", "Identity", "Dropout")
def identity(node: ProgramNode) -> None:
    """Pass on."""
    if len([name for name in node.outputs if name]) > 1:
        raise Unsupported("it gives a mask")
    node.emit(shapes.same, node.inputs[:1], node.outputs[:1])
    node.prove_moved()


@lowers("", "Reshape", "Flatten", "Squeeze", "Unsqueeze")
def reshape(node: ProgramNode) -> None:
    """Give the shape that the graph states."""
    output = node.outputs[0]
    new = node.shape(output)
    if int(np.prod(new)) != int(np.prod(node.shape(node.inputs[0]))):
        raise Unsupported("the graph states another size")
    node.emit(shapes.reshape, node.inputs[:1], [output], shape=new)
    node.prove_moved()


@lowers("", "Transpose")
def transpose(node: ProgramNode) -> None:
    """Reorder axes."""
    rank = len(node.shape(node.inputs[0]))
    order = node.attribute("perm", tuple(range(rank))[::-1])
    node.emit(shapes.transpose, node.inputs, node.outputs, order=tuple(order))
    node.prove_moved()


@lowers("", "Expand", "Tile")
def expand(node: ProgramNode) -> None:
    """Repeat along axes."""
    constant = node.needed_constant(1, "shape")
    if node.op_type == "Tile":
        node.emit(shapes.tile, node.inputs[:1], node.outputs, repeats=tuple(map(int, constant)))
    else:
        new = node.shape(node.outputs[0])
        node.emit(shapes.expand, [node.stack(0, len(new))], node.outputs, shape=new)
    node.prove_moved()


@lowers("", "Concat")
def concat(node: ProgramNode) -> None:
    """Join."""
    rank = len(node.shape(node.outputs[0]))
    fixed = tuple(None if node.varies(name) else node.shape(name) for name in node.inputs)
    axis = node.attributes["axis"] % rank
    node.emit(shapes.concatenate, node.inputs, node.outputs, shapes=fixed, axis=axis)
    node.prove_joined(node.inputs)


@lowers("", "Split")
def split(node: ProgramNode) -> None:
    """Cut into the shapes that the graph states."""
    axis = node.attribute("axis", 0) % len(node.shape(node.inputs[0]))
    sizes = tuple(node.shape(name)[axis] for name in node.outputs)
    node.emit(shapes.split, node.inputs[:1], node.outputs, sizes=sizes, axis=axis)
    node.prove_moved()


@lowers("", "Slice")
def slice_(node: ProgramNode) -> None:
    """Cut out."""
    of = node.shape(node.inputs[0])
    starts: Any
    ends: Any
    axes: Any
    steps: Any
    if node.opset < 10:
        starts, ends = node.attributes["starts"], node.attributes["ends"]
        axes, steps = node.attribute("axes", tuple(range(len(starts)))), (1,) * len(starts)
    else:
        starts, ends = node.needed_constant(1, "start"), node.needed_constant(2, "end")
        axes = node.needed_constant(3, "axis") if node.given(3) else range(len(starts))
        steps = node.needed_constant(4, "step") if node.given(4) else (1,) * len(starts)
    cuts = [slice(0, size, 1) for size in of]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = of[int(axis)]
        first, last, by = slice(int(start), int(end), int(step)).indices(size)
        cuts[int(axis)] = slice(first, None if last < 0 else last, by)
    node.emit(
        shapes.slices,
        node.inputs[:1],
        node.outputs,
        starts=tuple(cut.start for cut in cuts),
        ends=tuple(cut.stop for cut in cuts),
        steps=tuple(cut.step for cut in cuts),
    )
    node.prove_moved()


@lowers("", "Pad")
def pad(node: ProgramNode) -> None:
    """Surround."""
    mode = node.attribute("mode", "constant")
    rank = len(node.shape(node.inputs[0]))
    pads: Any
    if node.opset < 11:
        pads, fill = node.attributes["pads"], node.attribute("value", 0.0)
        filled = node.hold(np.asarray(fill, np.float32)) if fill else ""
    else:
        pads, filled = node.needed_constant(1, "padding"), node.inputs[2] if node.given(2) else ""
    if filled and node.varies(filled):
        raise Unsupported("its value is no constant")
    pads = [int(size) for size in pads]
    if node.given(3):
        axes = [int(axis) % rank for axis in node.needed_constant(3, "axes")]
        half = len(axes)
        by_axis = {axis: (pads[at], pads[at + half]) for at, axis in enumerate(axes)}
        pads = [by_axis.get(axis, (0, 0))[side] for side in (0, 1) for axis in range(rank)]
    if min(pads, default=0) < 0 or mode not in ("constant", "reflect", "edge"):
        raise Unsupported("it cuts off, or pads in another mode")
    node.emit(
        shapes.pad, [node.inputs[0], filled], node.outputs,
        before=tuple(pads[:rank]), after=tuple(pads[rank:]), mode=mode,
    )  # fmt: skip
    span = node.span(node.inputs[0])
    extra = node.span(filled) if filled and mode == "constant" else (0, 0)
    if span and extra:
        node.prove(node.outputs[0], min(span[0], extra[0]), max(span[1], extra[1]))


@lowers("", "Gather")
def gather(node: ProgramNode) -> None:
    """Take entries: constant ones of a tensor that varies, or any of a table."""
    axis = node.attribute("axis", 0) % len(node.shape(node.inputs[0]))
    indices = node.constant(1)
    if indices is not None:
        held = node.hold(np.where(indices < 0, indices + node.shape(node.inputs[0])[axis], indices))
        node.emit(shapes.take, [node.inputs[0], held], node.outputs, axis=axis)
    elif node.constant(0) is not None:
        node.emit(shapes.look_up, node.inputs, node.outputs, axis=axis)
    else:
        raise Unsupported("table and indices both vary")
    node.prove_moved()


@lowers("", "DepthToSpace")
def depth_to_space(node: ProgramNode) -> None:
    """Make images larger of their channels."""
    batch, channels, high, wide = node.shape(node.inputs[0])
    block = node.attributes["blocksize"]
    left = channels // block**2
    if node.attribute("mode", "DCR") == "DCR":
        first, order = (batch, block, block, left, high, wide), (0, 3, 4, 1, 5, 2)
    else:
        first, order = (batch, left, block, block, high, wide), (0, 1, 4, 2, 5, 3)
    _reordered(node, first, order, (batch, left, high * block, wide * block))


@lowers("", "SpaceToDepth")
def space_to_depth(node: ProgramNode) -> None:
    """Make channels of the pixels of blocks."""
    batch, channels, high, wide = node.shape(node.inputs[0])
    block = node.attributes["blocksize"]
    first = (batch, channels, high // block, block, wide // block, block)
    last = (batch, channels * block**2, high // block, wide // block)
    _reordered(node, first, (0, 3, 5, 1, 2, 4), last)


def _reordered(
    node: ProgramNode, first: tuple[int, ...], order: tuple[int, ...], last: tuple[int, ...]
) -> None:
    apart = node.emit(shapes.reshape, node.inputs, shape=first)
    turned = node.emit(shapes.transpose, [apart], order=order)
    node.emit(shapes.reshape, [turned], node.outputs, shape=last)
    node.prove_moved()
