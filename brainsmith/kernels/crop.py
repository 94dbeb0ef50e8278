"""Crop: a window of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.operators.movement import Cut
from brainsmith.kernels.windowed_kernel import WindowedKernel
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto


@kernel(
    name="Crop",
    description="Let a window of a tensor pass, such as one token, and drop the rest",
    tags=("layout", "transformer"),
)
class CropKernel(WindowedKernel):
    """`x.reshape(within_shape)[starts : starts + sizes].reshape(out_shape)`, axis by axis, any datatype.

    Without a `within_shape` it is the input's own. With one, several windows are one: every second row of 8 is the first
    of each pair, `within_shape` (4, 2, ...) and `sizes` (4, 1, ...).

    `SIMD` values go together, so on the last axis it divides the length, the start and the size of the window, and the
    last axis of input and output.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return the attributes of a windowed kernel: a start and a size for each axis, too."""
        attributes = super().get_nodeattr_types()
        attributes["starts"] = ("ints", True, [])
        attributes["sizes"] = ("ints", True, [])
        return attributes

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Cut the window out with numpy."""
        node = self.onnx_node
        shape, starts, sizes = self.window()
        window = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
        cut = context[node.input[0]].reshape(shape)[window]
        context[node.output[0]] = cut.reshape(self.get_nodeattr("out_shape"))

    def window(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the shape in which the window is cut out, and the window's starts and sizes."""
        return self.within_shape(), tuple(self.get_nodeattr("starts")), tuple(self.get_nodeattr("sizes"))

    def movement(self) -> Cut:
        """Return which window is cut out."""
        shape, starts, sizes = self.window()
        ends = tuple(start + size for start, size in zip(starts, sizes, strict=True))
        return Cut(starts, ends, (1,) * len(starts), shape)
