"""Products of matrices: MatMul and Gemm of ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.onnx.integer_products import write_product
from brainsmith.execution.operators.operator import APART, Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.exact_products import emit_product, type_of_bound
from brainsmith.execution.program.functions import arithmetic, matrix, shapes
from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import IntegerRange, range_of_values
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD
from brainsmith.graph.range_rules import range_of

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


_OWN = ("float64", "int32", "int64", "uint32", "uint64")
"""Types in which products of them are computed: what is beyond integers wraps around, as it does in ONNX Runtime."""


class Products:
    """Products of the matrices of two tensors."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis: its matrices have others along it."""
        left, right = (node.shape(name) for name in node.inputs)
        if not node.is_computed(1):
            shared = len(right) < max(len(left), 3) or right[0] == 1
            fits = len(left) >= max(len(right), 2) and shared
            return APART if fits else "its second matrix has a first axis of its own"
        if len(right) < max(len(left), 3):
            return "its second matrix is the run's own"
        if not node.is_computed(0):
            fits = len(left) < len(right) or left[0] == 1
            return APART if fits else "its first matrix has a first axis of its own"
        fits = len(left) == len(right) and left[0] == right[0]
        return APART if fits else "its matrices are repeated along the first axis"


@dataclass(frozen=True)
class BatchedProduct(Products, Apart):
    """ONNX's product of matrices of any type."""

    def to_program(self, node: ProgramNode) -> None:
        """Multiply matrix by matrix.

        Raises:
            Unsupported: Its type is one of few bits.
        """
        dtype = node.dtype(node.inputs[1]).name
        exact, sums = dtype, sums_of_products(node)
        if dtype not in (*_OWN, "float32"):
            raise Unsupported(f"its type is {dtype}")
        if dtype == "float64" or (dtype == "float32" and sums is None):
            node.rounds_differently()
        if dtype == "float32" and sums is not None:
            exact = type_of_bound(sums.magnitude)
            if exact != "int64":
                node.prove_range(node.outputs[0], sums)
        rank = max(2, *(len(node.shape(name)) for name in node.inputs))
        ready = [self._as_matrix(node, at, rank) for at in range(2)]
        node.emit_reshaped(node.emit(matrix.matmul, ready, exact=exact, dtype=dtype))

    @staticmethod
    def _as_matrix(node: ProgramNode, index: int, rank: int) -> str:
        """Give an input a rank: a vector is a row on the left and a column on the right; runs are led by ones."""
        shape = node.shape(node.inputs[index])
        if len(shape) == 1:
            shape = (*shape, 1) if index else (1, *shape)
        shape = (1,) * (rank - len(shape)) + shape
        constant = node.constant(index)
        if constant is not None:
            return node.hold(constant.reshape(shape))
        return node.emit(shapes.reshape, [node.inputs[index]], shape=shape)


@dataclass(frozen=True)
class ProductWithConstant(Products, Apart):
    """ONNX's product with a constant matrix.

    Attributes:
        weights: (terms, results), float32; float64 if they are whole numbers.
    """

    weights: Array

    def to_program(self, node: ProgramNode) -> None:
        """Multiply all runs at once."""
        emit_product(node, node.inputs[0], self.weights, node.outputs[0])

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Multiply; whole numbers exactly."""
        if node.span(node.inputs[0]) is None:
            super().to_onnx(node, emit)
        else:
            write_product(node, emit, node.inputs[0], self.weights, node.outputs[0])


@dataclass(frozen=True)
class Gemm(Apart):
    """Rows times a constant matrix, plus a number of times another.

    Attributes:
        weights: (terms, results).
        transposed: Whether the rows are the columns of the first input.
        beta: How many times the third input is added.
    """

    weights: Array
    transposed: bool
    beta: np.float32

    def to_program(self, node: ProgramNode) -> None:
        """Multiply all runs at once.

        Raises:
            Unsupported: They are not float32.
        """
        left = node.inputs[0]
        if node.dtype(left) != np.float32:
            raise Unsupported(f"its type is {node.dtype(left)}")
        if self.transposed:
            left = node.emit(shapes.transpose, [left], order=(1, 0))
            node.prove_same(left, node.inputs[0])
        product = emit_product(node, left, self.weights, None if node.given(2) else node.outputs[0])
        if not node.given(2):
            return
        added, bias = node.stack(2, 2), node.constant(2)
        if bias is not None:
            added = node.hold(np.asarray(bias * self.beta))
        elif self.beta != 1:
            added = node.emit(arithmetic.apply, [added, node.hold(np.asarray(self.beta))], name="Mul")
        node.emit(arithmetic.apply, [product, added], node.outputs, name="Add")

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        if self.transposed or node.is_computed(2):
            return "more than its first matrix holds runs, or this one is transposed"
        bias = node.constant(2)
        differs = bias is not None and bias.ndim > 1 and bias.shape[0] != 1
        return "what it adds differs along the first axis" if differs else APART


@reads(STANDARD, "MatMul")
def mat_mul(node: NodeView) -> BatchedProduct | ProductWithConstant:
    """Read one."""
    weights = node.constant(1)
    if weights is not None and weights.ndim == 2 and (weights.dtype == np.float32 or _wide(node, weights)):
        return ProductWithConstant(weights)
    return BatchedProduct()


def _wide(node: NodeView, weights: Array) -> bool:
    """Tell whether it is one in float64, of whole numbers."""
    whole = node.span(node.inputs[0]) is not None and range_of_values(weights) is not None
    return weights.dtype == np.float64 and whole


@reads(STANDARD, "Gemm")
def gemm(node: NodeView) -> Gemm:
    """Read one."""
    weights = node.needed_constant(1, "second matrix")
    if node.attribute("transB", 0):
        weights = weights.T
    alpha, beta = (np.float32(node.attribute(name, 1.0)) for name in ("alpha", "beta"))
    return Gemm(np.asarray(weights * alpha), bool(node.attribute("transA", 0)), beta)


def sums_of_products(node: NodeView) -> IntegerRange | None:
    """Return between which whole numbers the products of two matrices lie; None if they are not known to hold such.

    The magnitude of no partial sum exceeds the range's.
    """
    products = range_of("Mul", [node.range(name) for name in node.inputs])
    return None if products is None else products.times(node.shape(node.inputs[0])[-1])
