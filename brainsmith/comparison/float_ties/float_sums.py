"""Which sums of products operators give, in double precision: matrix products, convolutions and means."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.operators.images import geometry_of
from brainsmith.execution.program.functions import windows
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class FloatSum:
    """What adds products: `sum of a * b, plus a constant`.

    Attributes:
        product: Of two float64 arrays, linear in each; for a mean the second one is not looked at.
        terms: How many products each result adds.
        weight: The largest sum of magnitudes of the second factors of a result, where they are constant; else None.
        added: The constant, such as a bias; None where there is none.
        divisor: Of a mean: by what the sum is divided, also in `product`.
    """

    product: Callable[[Array, Array], Array]
    terms: int
    weight: float | None
    added: Array | None = None
    divisor: int = 1


def sum_of(node: NodeView) -> FloatSum | None:
    """Return what a node adds; None if it is no sum of products, or not known as one."""
    reader = _READERS.get(node.kind) if node.family == STANDARD else None
    try:
        return None if reader is None else reader(node)
    except Unsupported:
        return None


def _matmul(node: NodeView) -> FloatSum:
    terms = node.shape(node.inputs[0])[-1]
    return FloatSum(np.matmul, terms, _largest(node.constant(1), -2))


def _gemm(node: NodeView) -> FloatSum | None:
    if not node.attribute("alpha", 1.0) == node.attribute("beta", 1.0) == 1:
        return None
    first, second = (bool(node.attribute(name, 0)) for name in ("transA", "transB"))
    added = _constant_sum(node)

    def product(left: Array, right: Array) -> Array:
        return (left.T if first else left) @ (right.T if second else right)

    terms = node.shape(node.inputs[0])[0 if first else -1] + (added is not None)
    return FloatSum(product, terms, _largest(node.constant(1), -1 if second else -2), added)


def _conv(node: NodeView) -> FloatSum:
    image, shape = node.shape(node.inputs[0]), node.shape(node.inputs[1])
    geometry, groups = geometry_of(node, image[2:], shape[2:]), node.attribute("group", 1)
    added, weights = _constant_sum(node), node.constant(1)
    stated: dict[str, Any] = {"geometry": geometry, "groups": groups, "exact": "float64", "dtype": "float64"}

    def product(left: Array, right: Array) -> Array:
        return np.asarray(windows.convolve(left[None], right, None, **stated)[0])

    largest = _largest(None if weights is None else weights.reshape(len(weights), -1), 1)
    bias = None if added is None else added.reshape(-1, *(1,) * len(shape[2:]))
    return FloatSum(product, prod(shape[1:]) + (added is not None), largest, bias)


def _average_pool(node: NodeView) -> FloatSum | None:
    kernel = tuple(node.needed("kernel_shape"))
    geometry = geometry_of(node, node.shape(node.inputs[0])[2:], kernel)
    is_padded = any((*geometry.before, *geometry.after))
    if node.attribute("ceil_mode", 0) or (is_padded and not node.attribute("count_include_pad", 0)):
        return None
    stated: dict[str, Any] = {"kernel": kernel, "geometry": geometry, "average": True, "count_padding": True}
    return _mean(lambda left: np.asarray(windows.pool(left[None], **stated)[0]), prod(kernel))


def _global_average_pool(node: NodeView) -> FloatSum:
    shape = node.shape(node.inputs[0])
    axes = tuple(range(2, len(shape)))
    return _mean(lambda left: np.asarray(left.mean(axis=axes, keepdims=True)), prod(shape[2:]))


def _mean(mean: Callable[[Array], Array], count: int) -> FloatSum:
    return FloatSum(lambda left, _: mean(left), count + 1, float(count), divisor=count)


def _constant_sum(node: NodeView) -> Array | None:
    """Return what is added, as float64; None where nothing is.

    Raises:
        Unsupported: It varies.
    """
    return node.needed_constant(2, "sum").astype(np.float64) if node.given(2) else None


def _largest(weights: Array | None, axis: int) -> float | None:
    """Return the largest sum of magnitudes of constant weights of one result."""
    return None if weights is None else float(np.abs(weights.astype(np.float64)).sum(axis=axis).max())


_READERS: dict[str, Callable[[NodeView], FloatSum | None]] = {
    "AveragePool": _average_pool,
    "Conv": _conv,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_average_pool,
    "MatMul": _matmul,
}
