"""What operators of images share: of ONNX, and of QONNX, which may have the channels last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.program.functions import shapes
from brainsmith.execution.program.functions.windows import Geometry
from brainsmith.graph.array_types import Shape
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


_ATTRIBUTES = ("auto_pad", "ceil_mode", "dilations", "group", "kernel_shape", "pads", "strides")
"""What operators of ONNX take from nodes of QONNX that stand for them."""


@dataclass(frozen=True)
class OfImages(ABC, Apart):
    """An operator of images whose first axis is the batch.

    Attributes:
        last: Whether the channels lie in the last axis, instead of the second.
    """

    last: bool

    @abstractmethod
    def computed(self, node: ProgramNode, image: str, outputs: Sequence[str] | None) -> str:
        """Emit instructions that compute it of an image with the channels in the second axis; return what they give."""

    def written(self, node: NodeView, emit: Emitter, image: str, output: str) -> str:
        """Write operators that compute it of an image with the channels in the second axis; return what they give."""
        stated = {name: node.attributes[name] for name in _ATTRIBUTES if name in node.attributes}
        op_type = node.kind.removesuffix("NHWC")
        return emit.add(op_type, [image, *self.parameters(node, emit)], output, **stated)

    def parameters(self, node: NodeView, emit: Emitter) -> list[str]:
        """Return the names of the inputs after the image."""
        return list(node.inputs[1:])

    def to_program(self, node: ProgramNode) -> None:
        """Compute it, between transposes where the channels lie in the last axis."""
        if self.last:
            to_first, to_last = self._orders(node)
            image = node.emit(shapes.transpose, node.inputs[:1], order=to_first)
            node.emit(shapes.transpose, [self.computed(node, image, None)], node.outputs, order=to_last)
        else:
            self.computed(node, node.inputs[0], node.outputs)
        self.prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write it, between transposes where the channels lie in the last axis."""
        if node.family == STANDARD:
            emit.copy(node.node)
        elif self.last:
            to_first, to_last = self._orders(node)
            image = emit.add("Transpose", node.inputs[:1], perm=to_first)
            made = self.written(node, emit, image, "")
            emit.add("Transpose", [made], node.outputs[0], perm=to_last)
        else:
            self.written(node, emit, node.inputs[0], node.outputs[0])
        self.prove(node)

    @staticmethod
    def _orders(node: NodeView) -> tuple[Shape, Shape]:
        """Return the order of the axes with the channels in the second, and the one that takes them back."""
        rank = len(node.shape(node.inputs[0]))
        return (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)


def space_of(node: NodeView, name: str, last: bool) -> Shape:
    """Return the sizes of an image along its axes, without batch and channels."""
    shape = node.shape(name)
    return shape[1:-1] if last else shape[2:]


def geometry_of(node: NodeView, image: Shape, kernel: Shape) -> Geometry:
    """Read where windows of a size lie on an image.

    Raises:
        Unsupported: The padding is negative, or would have to be.
    """
    rank = len(kernel)
    strides = tuple(node.attribute("strides", (1,) * rank))
    dilations = tuple(node.attribute("dilations", (1,) * rank))
    pads = tuple(node.attribute("pads", (0,) * (2 * rank)))
    auto = node.attribute("auto_pad", "NOTSET")
    stated = Geometry(strides, dilations, pads[:rank], pads[rank:])
    if auto == "NOTSET":
        if min(pads, default=0) < 0:
            raise Unsupported("its padding is negative")
        return stated
    none = stated._replace(before=(0,) * rank, after=(0,) * rank)
    if auto == "VALID":
        return none
    count = tuple(-(-size // stride) for size, stride in zip(image, strides, strict=True))
    total = none.for_windows(count, image, kernel).after
    left = (size - end for size, end in zip(image, stated.reach(count, kernel), strict=True))
    if node.kind in ("MaxPool", "AveragePool") and max(left) > 1:
        raise Unsupported("ONNX Runtime moves its windows, which leave out values, by a rule of its own")
    small, large = tuple(size // 2 for size in total), tuple(size - size // 2 for size in total)
    before, after = (small, large) if auto == "SAME_UPPER" else (large, small)
    return stated._replace(before=before, after=after)
