"""Operators that surround a tensor: Pad of ONNX, FMPadding and FMPadding_Pixel of FINN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.movement import Movement, apart, in_shape
from brainsmith.execution.operators.one_instruction import LayerOfRuns
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.functions import images, shapes
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

_MODES = ("constant", "reflect", "edge")
"""Those of ONNX that NumPy has under the same name."""


@dataclass(frozen=True)
class Border(Movement):
    """Entries around a tensor.

    Attributes:
        before: How many in front, axis by axis; entries are cut off where it is negative.
        after: Likewise after.
        fill: What they hold, in the constant mode.
        mode: As ONNX names it.
        shape: What is surrounded; empty if it is the input's own.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    fill: float = 0.0
    mode: str = "constant"
    shape: tuple[int, ...] = ()

    def moved(self, node: ProgramNode) -> str:
        """Surround it.

        Raises:
            Unsupported: That is not all it does, or its mode is not known.
        """
        if min((*self.before, *self.after), default=0) < 0 or self.mode not in _MODES:
            raise Unsupported("it has negative padding, or an unknown mode")
        stated = {"before": self.before, "after": self.after, "fill": self.fill, "mode": self.mode}
        return node.emit(shapes.pad, [in_shape(node, self.shape)], **stated)

    def written(self, node: NodeView, emit: Emitter) -> str:
        """Write that each run is surrounded."""
        pads = emit.constant([0, *self.before, 0, *self.after], "pads", np.int64)
        fill = emit.constant(self.fill, "fill", node.dtype(node.inputs[0]))
        return emit.add("Pad", [apart(node, emit, self.shape), pads, fill], mode=self.mode)

    def fills(self) -> tuple[float, ...]:
        """Return what is put beside the values."""
        return (self.fill,) if self.mode == "constant" else ()


@reads(FINN, "FMPadding")
def border(node: NodeView) -> Border:
    """Read one, which puts zeros around images (N, H, W, C)."""
    top, left, bottom, right = node.needed("Padding")
    return Border((0, top, left, 0), (0, bottom, right, 0))


@reads(STANDARD, "Pad")
def pad(node: NodeView) -> Border:
    """Read one, all of whose axes are padded, or some."""
    rank = len(node.shape(node.inputs[0]))
    pads, fill = node.stated(1, "pads"), np.asarray(node.stated(2, "value", 0.0))
    axes = [int(axis) % rank for axis in node.stated(3, "axes", range(rank))]
    before, after = [0] * rank, [0] * rank
    for at, axis in enumerate(axes):
        before[axis], after[axis] = int(pads[at]), int(pads[at + len(axes)])
    value = fill.reshape(-1)[0].item() if fill.size else 0.0
    return Border(tuple(before), tuple(after), value, node.attribute("mode", "constant"))


@reads(FINN, "FMPadding_Pixel")
def spread(node: NodeView) -> LayerOfRuns:
    """Read one, which puts 0 between pixels."""
    given = node.range(node.inputs[0])
    ranges = [None if given is None else given.holding(0)]
    return LayerOfRuns(images.spread_pixels, node.inputs, {"strides": tuple(node.needed("Stride"))}, ranges)
