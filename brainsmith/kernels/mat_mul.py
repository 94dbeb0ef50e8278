"""MatMul: the product of two tensors that are both computed by the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.matrixvectoractivation import MVAU

from brainsmith.kernels.datatypes import product_datatype
from brainsmith.plugin.core import kernel

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.modelwrapper import ModelWrapper


@kernel(
    name="MatMul",
    description="Multiply matrices that are both computed by the network",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    tags=("matrix", "transformer"),
    domain="brainsmith.kernels",
)
class MatMulKernel(MVAU):
    """`(..., M, K) x (..., K, N)`, integers both, as attention has them (queries and keys).

    FINN's MVAU with weights that are streamed in and kept for the M rows that use them (`mem_mode` dynamic),
    for one right-hand matrix (`rhs_shape` K, N) or one for each left-hand one (`rhs_shape` ..., K, N with the
    leading dimensions of `lhs_shape`). MW is K and MH is N; `numInputVectors` ends in the rows that share a
    matrix. `SIMD` divides K, `PE` divides N. The output is not rounded or thresholded: its datatype holds
    every possible sum.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, and the shapes of both inputs."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        attributes["lhs_shape"] = ("ints", True, [])
        attributes["rhs_shape"] = ("ints", True, [])
        attributes["mem_mode"] = ("s", False, "dynamic", {"dynamic"})
        attributes["noActivation"] = ("i", False, 1, {1})
        return attributes

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Multiply in double precision, which is exact for sums below 2 ** 53, into a float32 container."""
        node = self.onnx_node
        lhs, rhs = (context[name].astype(np.float64) for name in node.input[:2])
        context[node.output[0]] = np.matmul(lhs, rhs).astype(np.float32)

    def get_normal_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the left-hand (0) or the right-hand (1) input."""
        return tuple(self.get_nodeattr("rhs_shape" if ind else "lhs_shape"))

    def get_normal_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the product."""
        return (*self.get_nodeattr("lhs_shape")[:-1], self.get_nodeattr("MH"))

    def get_folded_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape in stream beats; a right-hand matrix comes row by row, `PE` elements per beat."""
        simd, pe = self.get_nodeattr("SIMD"), self.get_nodeattr("PE")
        depth, width = self.get_nodeattr("MW"), self.get_nodeattr("MH")
        if ind == 0:
            return (*self.get_nodeattr("numInputVectors"), depth // simd, simd)
        return (self.matrices(), depth, width // pe, pe)

    def matrices(self) -> int:
        """Return the number of right-hand matrices in one input."""
        return int(np.prod(self.get_nodeattr("rhs_shape")[:-2]))

    def get_exp_cycles(self) -> int:
        """Return the cycles between two inputs.

        The next matrix is loaded, `PE` elements per cycle, while the rows of this one are multiplied, so the
        slower of the two counts (FINN+ 1.6.1, finn-rtllib/dynload: two buffers).
        """
        depth, beats = self.get_nodeattr("MW"), self.get_nodeattr("MH") // self.get_nodeattr("PE")
        rows = int(self.get_nodeattr("numInputVectors")[-1])
        multiply = rows * beats * (depth // self.get_nodeattr("SIMD"))
        return int(self.matrices() * max(multiply, depth * beats))

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Take the inputs' datatypes from the model; where they changed, fit the output's to them."""
        node = self.onnx_node
        lhs, rhs = (model.get_tensor_datatype(name) for name in node.input[:2])
        if (lhs, rhs) != (self.get_input_datatype(0), self.get_input_datatype(1)):
            product = product_datatype(lhs, rhs, depth=self.get_nodeattr("MW"))
            names = ("inputDataType", "weightDataType", "accDataType", "outputDataType")
            for name, datatype in zip(names, (lhs, rhs, product, product), strict=True):
                self.set_nodeattr(name, datatype.name)
        model.set_tensor_datatype(node.output[0], self.get_output_datatype())
