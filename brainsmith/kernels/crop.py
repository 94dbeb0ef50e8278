"""Crop: a window of a tensor."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from brainsmith.execution.operators.movement import Cut
from brainsmith.kernels.movement_kernel import MovementKernel
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto


@kernel(
    name="Crop",
    description="Let a window of a tensor pass, such as one token, and drop the rest",
    requires=("finn-plus",),
    tags=("layout", "transformer"),
    domain="brainsmith.kernels",
)
class CropKernel(MovementKernel):
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
        cut = self.movement()
        window = tuple(map(slice, cut.starts, cut.ends))
        context[node.output[0]] = context[node.input[0]][window].reshape(self.get_nodeattr("out_shape"))

    def movement(self) -> Cut:
        """Return which window is cut out."""
        starts, sizes = self.get_nodeattr("starts"), self.get_nodeattr("sizes")
        ends = tuple(start + size for start, size in zip(starts, sizes, strict=True))
        return Cut(tuple(starts), ends, (1,) * len(starts))

    def lanes_limit(self) -> int:
        """Return the most values that may go together; `SIMD` divides it."""
        shapes = (self.get_normal_input_shape()[-1], self.get_normal_output_shape()[-1])
        return gcd(*shapes, self.get_nodeattr("starts")[-1], self.get_nodeattr("sizes")[-1])
