"""Crop: a window of a tensor."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.program.functions import shapes
from brainsmith.kernels.movement import Movement
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto

    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView


@kernel(
    name="Crop",
    description="Let a window of a tensor pass, such as one token, and drop the rest",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    tags=("layout", "transformer"),
    domain="brainsmith.kernels",
)
class CropKernel(Movement):
    """`x[starts : starts + sizes].reshape(out_shape)`, axis by axis, any datatype.

    `SIMD` values go together, so on the last axis it divides the length, the start and the size of the window.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return the attributes of a movement, and the window: a start and a size for each axis of the input."""
        attributes = super().get_nodeattr_types()
        attributes["starts"] = ("ints", True, [])
        attributes["sizes"] = ("ints", True, [])
        return attributes

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Cut the window out with numpy."""
        node = self.onnx_node
        window = tuple(slice(start, end) for start, end in zip(*self.window(), strict=True))
        context[node.output[0]] = context[node.input[0]][window].reshape(self.get_nodeattr("out_shape"))

    def window(self) -> tuple[list[int], list[int]]:
        """Return where the window starts and ends, axis by axis."""
        starts, sizes = self.get_nodeattr("starts"), self.get_nodeattr("sizes")
        return list(starts), [start + size for start, size in zip(starts, sizes, strict=True)]

    def move_in_program(self, node: ProgramNode) -> str:
        """Cut the window out."""
        starts, ends = map(tuple, self.window())
        return node.emit(shapes.slices, node.inputs, starts=starts, ends=ends, steps=(1,) * len(starts))

    def move_in_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a window of each run, whatever it leaves of the first axis."""
        starts, ends = self.window()
        axes = list(range(1, len(starts) + 1))
        limits = [emit.constant(values, "limits", np.int64) for values in (starts, ends, axes)]
        apart = emit.reshaped(node.inputs[0], (1, *node.shape(node.inputs[0])))
        emit.reshaped(emit.add("Slice", [apart, *limits]), node.shape(node.outputs[0]), node.outputs[0])

    def lanes_limit(self) -> int:
        """Return the most values that may go together; `SIMD` divides it."""
        shapes = (self.get_normal_input_shape()[-1], self.get_normal_output_shape()[-1])
        return gcd(*shapes, self.get_nodeattr("starts")[-1], self.get_nodeattr("sizes")[-1])
