"""Lower MatMul and Gemm."""

from __future__ import annotations

import numpy as np

from brainsmith.execution.lowering.products import emit_product, type_of_bound
from brainsmith.execution.lowering.program_node import ProgramNode
from brainsmith.execution.lowering.registry import lowers
from brainsmith.execution.program.functions import arithmetic, matrix, shapes
from brainsmith.graph.node_view import Unsupported

_WHOLE = ("int32", "int64", "uint32", "uint64")


@lowers("", "MatMul")
def mat_mul(node: ProgramNode) -> None:
    """Multiply with a constant matrix as one product over all runs, else matrix by matrix."""
    left = node.inputs[0]
    weights = node.constant(1)
    plain = weights is not None and weights.ndim == 2 and weights.dtype == np.float32
    if weights is not None and plain and node.varies(left):
        emit_product(node, left, weights, node.outputs[0])
    else:
        _general(node)


def _general(node: ProgramNode) -> None:
    left, right = node.inputs
    shapes_of = [node.shape(left), node.shape(right)]
    rank = max(2, *(len(shape) for shape in shapes_of))
    terms = shapes_of[0][-1]
    spans = [node.span(left), node.span(right)]
    exact = "float32"
    dtype = node.dtype(right if node.constant(1) is not None else left).name
    if dtype in _WHOLE:
        exact = dtype  # what is beyond the type wraps around, as it does in ONNX Runtime
    elif dtype == "float64":
        exact = dtype
        node.rounds_differently()
    elif dtype != "float32":
        raise Unsupported(f"its type is {dtype}")
    elif spans[0] is not None and spans[1] is not None:
        bound = terms * max(map(abs, spans[0])) * max(map(abs, spans[1]))
        exact = type_of_bound(bound)
        if exact != "int64":
            node.prove(node.outputs[0], -bound, bound)
    else:
        node.rounds_differently()
    ready = [_as_matrix(node, 0, rank), _as_matrix(node, 1, rank)]
    product = node.emit(matrix.matmul, ready, exact=exact, dtype=dtype)
    node.emit(shapes.reshape, [product], node.outputs, shape=node.shape(node.outputs[0]))


def _as_matrix(node: ProgramNode, index: int, rank: int) -> str:
    """Give an input a rank: a vector is a row on the left and a column on the right; runs are led by ones."""
    name = node.inputs[index]
    shape = node.shape(name)
    if len(shape) == 1:
        shape = (1, *shape) if index == 0 else (*shape, 1)
    shape = (1,) * (rank - len(shape)) + shape
    constant = node.constant(index)
    if constant is not None:
        return node.hold(constant.reshape(shape))
    return node.emit(shapes.reshape, [name], shape=shape)


@lowers("", "Gemm")
def gemm(node: ProgramNode) -> None:
    """Compute alpha * A' * B' + beta * C, with a constant B as one product over all runs."""
    weights = node.needed_constant(1, "second matrix")
    if node.attribute("transB", 0):
        weights = weights.T
    left = node.inputs[0]
    if node.dtype(left) != np.float32:
        raise Unsupported(f"its type is {node.dtype(left)}")
    if node.attribute("transA", 0):
        span = node.span(left)
        left = node.emit(shapes.transpose, [left], order=(1, 0))
        if span:
            node.prove(left, *span)
    alpha = np.float32(node.attribute("alpha", 1.0))
    last = not node.given(2)
    product = emit_product(node, left, np.asarray(weights * alpha), node.outputs[0] if last else None)
    if last:
        return
    beta = np.float32(node.attribute("beta", 1.0))
    bias = node.constant(2)
    if bias is not None:
        added = node.hold(np.asarray(bias * beta))
    else:
        scaled = node.stack(2, 2)
        added = node.emit(arithmetic.multiply, [scaled, node.hold(np.asarray(beta))])
    node.emit(arithmetic.add, [product, added], node.outputs)
