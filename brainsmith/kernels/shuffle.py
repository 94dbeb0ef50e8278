"""Shuffle: the values of a tensor in another order."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.operators.movement import Shuffled
from brainsmith.kernels.axes import Loop, transpose_loops
from brainsmith.kernels.movement_kernel import MovementKernel
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto


@kernel(
    name="Shuffle",
    description="Reshape, transpose and reshape between layers",
    tags=("layout", "transformer"),
)
class ShuffleKernel(MovementKernel):
    """`transpose(x.reshape(transpose_in_shape), perm).reshape(out_shape)`, any datatype.

    It splits and merges the heads of attention, transposes keys, moves space to depth. `SIMD` values go together, so
    it divides the innermost run of values that the transpose keeps together, and the last axis of input and output.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return the attributes of a movement, and the transpose."""
        attributes = super().get_nodeattr_types()
        attributes["transpose_in_shape"] = ("ints", True, [])
        attributes["perm"] = ("ints", True, [])
        return attributes

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Move the values with numpy."""
        node = self.onnx_node
        values = context[node.input[0]].reshape(self.get_nodeattr("transpose_in_shape"))
        moved = np.transpose(values, self.get_nodeattr("perm"))
        context[node.output[0]] = moved.reshape(self.get_nodeattr("out_shape"))

    def movement(self) -> Shuffled:
        """Return the transpose."""
        return Shuffled(tuple(self.get_nodeattr("transpose_in_shape")), tuple(self.get_nodeattr("perm")))

    def loops(self) -> tuple[Loop, ...]:
        """Return the loops that read the input in the order of the output, over single values."""
        return transpose_loops(self.get_nodeattr("transpose_in_shape"), self.get_nodeattr("perm"))

    def lanes_limit(self) -> int:
        """Return the most values that may go together; `SIMD` divides it."""
        last = gcd(self.get_normal_input_shape()[-1], self.get_normal_output_shape()[-1])
        loops = self.loops()
        if len(loops) < 2:
            return last
        return gcd(last, loops[-1].size) if loops[-1].stride == 1 else 1
