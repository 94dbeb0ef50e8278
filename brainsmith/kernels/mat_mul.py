"""MatMul: the product of two tensors that are both computed by the network."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp
from onnx import TensorProto
from qonnx.core.datatype import DataType

from brainsmith.execution.operators.matrix_products import Products, sums_of_products
from brainsmith.execution.program.exact_products import type_of_bound
from brainsmith.execution.program.functions import matrix
from brainsmith.figures import plural
from brainsmith.graph.integer_range import FLOAT32_END, FLOAT64_END
from brainsmith.graph.node_view import Unsupported
from brainsmith.kernels.datatypes import product_datatype
from brainsmith.plugin.core import kernel
from brainsmith.rtl.cores.parallelism import Parallelism, divisors, folded

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.datatype import BaseDataType
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView

MATRIX = 2
"""Dimensions of a matrix."""


@kernel(
    name="MatMul",
    description="Multiply matrices that are both computed by the network",
    tags=("matrix", "transformer"),
)
class MatMulKernel(Products, HWCustomOp):
    """`(..., M, K) x (..., K, N)`, integers both, as attention has them (queries and keys).

    There is one right-hand matrix (`rhs_shape` K, N), or one for each left-hand one (`rhs_shape` ..., K, N with the
    leading axes of `lhs_shape`). All streams are row-major: `SIMD`, which divides K, values of a left-hand row in a
    beat; `PE`, which divides N, values of a right-hand row or of the product. A right-hand matrix is collected while
    the one before is used. The product is not rounded: its datatype holds every possible sum.
    """

    def get_nodeattr_types(self) -> dict[str, Any]:
        """Return FINN's attributes, the shapes and datatypes of both inputs, the output's datatype, and the lanes."""
        attributes: dict[str, Any] = super().get_nodeattr_types()
        for name in ("lhs_shape", "rhs_shape"):
            attributes[name] = ("ints", True, [])
        for name in ("lhsDataType", "rhsDataType", "outputDataType"):
            attributes[name] = ("s", True, "")
        for name in ("SIMD", "PE"):
            attributes[name] = ("i", False, 1)
        attributes["inFIFODepths"] = ("ints", False, [2, 2])
        return attributes

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Multiply in double precision, exact for sums below 2 ** 53; into float32, or the float64 that stands there."""
        node = self.onnx_node
        kept = context.get(node.output[0])
        kind = np.float32 if kept is None or kept.dtype != np.float64 else np.float64
        lhs, rhs = (context[name].astype(np.float64) for name in node.input)
        context[node.output[0]] = np.matmul(lhs, rhs).astype(kind)

    def to_program(self, node: ProgramNode) -> None:
        """Multiply in double precision, or in single where that is proved to be exact."""
        exact, sums = "float64", sums_of_products(node)
        if sums is None:
            node.rounds_differently()
        else:
            exact = "float32" if type_of_bound(sums.magnitude) == "float32" else "float64"
            node.prove_range(node.outputs[0], sums)
        rank = max(len(node.shape(name)) for name in node.inputs)
        stacks = [node.stack(0, rank), node.stack(1, rank)]
        node.emit(
            matrix.matmul,
            stacks,
            node.outputs,
            exact=exact,
            dtype="float64" if node.is_double(node.outputs[0]) else "float32",
        )

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write the product in double precision, or in single where that is proved to be exact.

        Raises:
            ModelError: Sums may become too large for double precision.
        """
        sums = sums_of_products(node)
        if sums is not None:
            if sums.magnitude >= FLOAT64_END:
                reach = f"its sums may reach {sums.magnitude:.3g}"
                raise Unsupported(f"{reach}, beyond 2^53, where float64 is not exact")
            node.prove_range(node.outputs[0], sums)
        if sums is not None and sums.magnitude < FLOAT32_END:
            emit.add("MatMul", node.inputs, node.outputs[0])
            return
        product = emit.add(
            "MatMul", [emit.add("Cast", [name], to=TensorProto.DOUBLE) for name in node.inputs]
        )
        kind = TensorProto.DOUBLE if node.is_double(node.outputs[0]) else TensorProto.FLOAT
        emit.add("Cast", [product], node.outputs[0], to=kind)

    @property
    def depth(self) -> int:
        """K: the columns of a left-hand matrix, and the rows of a right-hand one."""
        return int(self.get_nodeattr("lhs_shape")[-1])

    @property
    def columns(self) -> int:
        """N: the columns of a right-hand matrix."""
        return int(self.get_nodeattr("rhs_shape")[-1])

    @property
    def matrices(self) -> int:
        """The number of right-hand matrices in one input."""
        return int(prod(self.get_nodeattr("rhs_shape")[:-2]))

    @property
    def rows(self) -> int:
        """M: the left-hand rows that share a right-hand matrix."""
        return int(prod(self.get_nodeattr("lhs_shape")[:-1]) // self.matrices)

    def get_normal_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the left-hand (0) or the right-hand (1) input."""
        return tuple(self.get_nodeattr("rhs_shape" if ind else "lhs_shape"))

    def get_normal_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the product."""
        return (*self.get_nodeattr("lhs_shape")[:-1], self.columns)

    def get_folded_input_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of an input in beats."""
        return folded(self.get_normal_input_shape(ind), self.get_nodeattr("PE" if ind else "SIMD"))

    def get_folded_output_shape(self, ind: int = 0) -> tuple[int, ...]:
        """Return the shape of the product in beats."""
        return folded(self.get_normal_output_shape(), self.get_nodeattr("PE"))

    def get_instream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat of an input."""
        return int(self.get_folded_input_shape(ind)[-1] * self.get_input_datatype(ind).bitwidth())

    def get_outstream_width(self, ind: int = 0) -> int:
        """Return the bits of a beat of the product."""
        return int(self.get_nodeattr("PE") * self.get_output_datatype().bitwidth())

    def get_input_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype of the left-hand (0) or the right-hand (1) input."""
        return DataType[self.get_nodeattr("rhsDataType" if ind else "lhsDataType")]

    def get_output_datatype(self, ind: int = 0) -> BaseDataType:
        """Return the datatype of the product."""
        return DataType[self.get_nodeattr("outputDataType")]

    def get_exp_cycles(self) -> int:
        """Return the cycles between two inputs.

        The next right-hand matrix comes, `PE` values per cycle, while the rows of this one are multiplied, so the
        slower of the two counts.
        """
        collect = self.depth * self.columns // self.get_nodeattr("PE")
        multiply = self.rows * collect // self.get_nodeattr("SIMD")
        return int(self.matrices * max(multiply, collect))

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return PE, which makes all of it faster, and SIMD, up to the first where collecting a matrix takes longer."""
        lanes = divisors(self.depth)
        enough = next((one for one in lanes if one >= self.rows), self.depth)
        useful = tuple(one for one in lanes if one <= enough)
        return Parallelism("PE", divisors(self.columns)), Parallelism("SIMD", useful)

    def flaw(self) -> str:
        """Return why no circuit can be this node, as `Support` wants it: shapes, floats, or an output that loses sums."""
        shapes = self._flaw_of_shapes()
        if shapes:
            return shapes
        kinds = [self.get_input_datatype(0), self.get_input_datatype(1), self.get_output_datatype()]
        for name, kind in zip(("input 0", "input 1", "output 0"), kinds, strict=True):
            if not kind.is_integer():
                return f"{name} is {kind.name}, and a circuit computes with integers"
        lhs, rhs, output = kinds
        needed = product_datatype(lhs, rhs, self.depth)
        if output.min() > needed.min() or output.max() < needed.max():
            return f"its output is {output.name}, and a sum may need {needed.name}"
        return ""

    def _flaw_of_shapes(self) -> str:
        """Return why the inputs cannot be multiplied; empty if they can."""
        lhs, rhs = self.get_normal_input_shape(0), self.get_normal_input_shape(1)
        stated = f"its inputs are {lhs} and {rhs}"
        if min(len(lhs), len(rhs)) < MATRIX:
            return f"{stated}, and both must have {MATRIX} dimensions or more"
        if lhs[-1] != rhs[-2]:
            return f"{stated}: a row of the first has {plural(lhs[-1], 'value')}, a column of the second {rhs[-2]}"
        if rhs[:-2] not in ((), lhs[:-2]):
            return f"{stated}: the second is neither one matrix nor one for each of the first"
        return ""

    def get_op_and_param_counts(self) -> dict[str, int]:
        """Return the multiplications of one input, by the widths of their factors; there are no parameters."""
        widths = (self.get_input_datatype(0).bitwidth(), self.get_input_datatype(1).bitwidth())
        count = self.matrices * self.rows * self.depth * self.columns
        return {f"op_mac_{widths[0]}bx{widths[1]}b": count}

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Take the inputs' datatypes from the model; where they changed, fit the output's to them."""
        node = self.onnx_node
        lhs, rhs = (model.get_tensor_datatype(name) for name in node.input)
        if (lhs, rhs) != (self.get_input_datatype(0), self.get_input_datatype(1)):
            product = product_datatype(lhs, rhs, depth=self.depth)
            names = ("lhsDataType", "rhsDataType", "outputDataType")
            for name, datatype in zip(names, (lhs, rhs, product), strict=True):
                self.set_nodeattr(name, datatype.name)
        model.set_tensor_datatype(node.output[0], self.get_output_datatype())
