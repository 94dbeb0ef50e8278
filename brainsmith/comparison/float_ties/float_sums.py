"""Sums of products, in double precision: matrix products, convolutions and means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.comparison.float_ties.bounded_tensor import (
    UNIT,
    BoundedTensor,
    around,
    certain,
    enlarged,
    gamma,
    rounded,
)
from brainsmith.comparison.float_ties.dyadic_grid import DyadicGrid, grid_of
from brainsmith.graph.array_types import Array
from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView


OF_FACTORS = 3
"""Roundings that are no additions: of the two factors of a product, and of the sum where integers become floats."""


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

    def sums_grid(self, left: DyadicGrid, right: DyadicGrid) -> DyadicGrid:
        """Return the grid of the sums, undivided; unknown unless each partial sum, in any order, is exact."""
        most = left.most * (self.terms * right.most if self.weight is None else self.weight)
        found = DyadicGrid(left.step * right.step, most).kept()
        return found if self.added is None else found.plus(grid_of(self.added))

    def divided(self, sums: DyadicGrid) -> DyadicGrid:
        """Return the grid of what is left after the division, which is exact for a power of two."""
        return sums if self.divisor == 1 else sums.times(grid_of(1 / self.divisor))

    def bounds(self, value: Array, left: BoundedTensor, right: BoundedTensor) -> BoundedTensor:
        """Return between which floats sums lie, in whatever order they are added.

        A sum of n products of floats is off by gamma_n times the sum of their magnitudes at most, and by two more
        roundings of each product where the factors themselves are levels times a scale.
        """
        first, second = left.middle, right.middle
        sizes = np.abs(first), np.abs(second)
        magnitudes = self._plus(self.product(*sizes), np.abs)
        spread = gamma(self.terms + OF_FACTORS) * magnitudes
        exact = self.product(left.exact, right.exact)
        middle = (
            exact  # which is two roundings of each product away from that of the floats: OF_FACTORS has them
        )
        if not left.is_certain:
            spread = spread + self.product(left.radius, sizes[1])
        if not right.is_certain:
            spread = spread + self.product(sizes[0] + left.radius, right.radius)
        if not (left.is_certain and right.is_certain):
            middle = self.product(first, second)
        size = magnitudes
        if left.size is not None or right.size is not None:
            size = self._plus(self.product(left.sizes, right.sizes), np.abs)
        return around(value, self._plus(middle), spread, size, self._once(exact, size), self._plus(exact))

    def exactly(self, value: Array, left: BoundedTensor, right: BoundedTensor) -> BoundedTensor:
        """Return sums that float32 does not round; a mean is rounded by its division, and exact sums are divided alike."""
        if self.divisor == 1:
            return certain(value)
        error = enlarged(UNIT * np.abs(value))
        return BoundedTensor(value, value, value, error, real=self.product(left.exact, right.exact))

    def _once(self, exact: Array, size: Array) -> tuple[Array, Array]:
        """Return what a sum, rounded once, becomes by division and by the constant."""
        low, high = rounded(exact * self.divisor, size * self.divisor)
        if self.divisor != 1:
            low, high = (end / np.float32(self.divisor) for end in (low, high))
        if self.added is not None:
            low, high = (end + self.added.astype(np.float32) for end in (low, high))
        return low, high

    def _plus(self, sums: Array, function: Callable[[Array], Array] = np.asarray) -> Array:
        return sums if self.added is None else sums + function(self.added)


def sum_of(view: GraphView, node: NodeProto) -> FloatSum | None:
    """Return what a node adds; None if it is no sum of products."""
    if not is_standard(node, *_READERS):
        return None
    return _READERS[node.op_type](view, node)


def _matmul(view: GraphView, node: NodeProto) -> FloatSum | None:
    shape = view.model.get_tensor_shape(node.input[0])
    return None if not shape else FloatSum(np.matmul, int(shape[-1]), _largest(view, node, -2))


def _gemm(view: GraphView, node: NodeProto) -> FloatSum | None:
    plain = attribute(node, "alpha", 1.0) == attribute(node, "beta", 1.0) == 1
    shape = view.model.get_tensor_shape(node.input[0])
    across = [bool(attribute(node, name, 0)) for name in ("transA", "transB")]
    added = _constant(view, node, 2)
    if not plain or shape is None or isinstance(added, str):
        return None

    def product(left: Array, right: Array) -> Array:
        return (left.T if across[0] else left) @ (right.T if across[1] else right)

    terms = int(shape[0 if across[0] else -1]) + (added is not None)
    return FloatSum(product, terms, _largest(view, node, -1 if across[1] else -2), added)


def _conv(view: GraphView, node: NodeProto) -> FloatSum | None:
    shape = view.model.get_tensor_shape(node.input[1])
    added = _constant(view, node, 2)
    if shape is None or isinstance(added, str) or attribute(node, "auto_pad", b"NOTSET") != b"NOTSET":
        return None
    rank = len(shape) - 2
    pads = attribute(node, "pads", [0] * (2 * rank))
    strides, dilations = (attribute(node, name, [1] * rank) for name in ("strides", "dilations"))
    groups = attribute(node, "group", 1)

    def product(left: Array, right: Array) -> Array:
        return _convolved(left, right, pads, strides, dilations, groups)

    terms = int(np.prod(shape[1:])) + (added is not None)
    weights = view.constant(node.input[1])
    largest = (
        None
        if weights is None
        else float(np.abs(weights.astype(np.float64)).reshape(len(weights), -1).sum(1).max())
    )
    return FloatSum(product, terms, largest, None if added is None else added.reshape(-1, *(1,) * rank))


def _convolved(
    images: Array,
    weights: Array,
    pads: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    groups: int,
) -> Array:
    rank = weights.ndim - 2
    padded = np.pad(images, [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)])
    batch, channels = images.shape[:2]
    kernel = weights.shape[2:]
    size = [
        (length - (taps - 1) * dilation - 1) // stride + 1
        for length, taps, dilation, stride in zip(padded.shape[2:], kernel, dilations, strides, strict=True)
    ]
    filters = weights.reshape(groups, len(weights) // groups, weights.shape[1], *kernel)
    sums = np.zeros((batch, groups, len(weights) // groups, int(np.prod(size))))
    for tap in np.ndindex(*kernel):
        places = [
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
            for at, dilation, count, stride in zip(tap, dilations, size, strides, strict=True)
        ]
        values = padded[(slice(None), slice(None), *places)].reshape(batch, groups, channels // groups, -1)
        sums += filters[(slice(None), slice(None), slice(None), *tap)] @ values
    return sums.reshape(batch, len(weights), *size)


def _average_pool(view: GraphView, node: NodeProto) -> FloatSum | None:
    if attribute(node, "ceil_mode", 0) or attribute(node, "auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        return None
    kernel = attribute(node, "kernel_shape")
    rank = len(kernel)
    pads = attribute(node, "pads", [0] * (2 * rank))
    strides, dilations = (attribute(node, name, [1] * rank) for name in ("strides", "dilations"))
    if any(pads) and not attribute(node, "count_include_pad", 0):
        return None
    count = int(np.prod(kernel))

    def product(left: Array, _: Array) -> Array:
        ones = np.ones((left.shape[1], 1, *kernel))
        return _convolved(left, ones, pads, strides, dilations, left.shape[1]) / count

    return FloatSum(product, count + 1, float(count), divisor=count)


def _global_average_pool(view: GraphView, node: NodeProto) -> FloatSum | None:
    shape = view.model.get_tensor_shape(node.input[0])
    if shape is None:
        return None
    axes, count = tuple(range(2, len(shape))), int(np.prod(shape[2:]))

    def product(left: Array, _: Array) -> Array:
        return np.asarray(left.mean(axis=axes, keepdims=True))

    return FloatSum(product, count + 1, float(count), divisor=count)


def _constant(view: GraphView, node: NodeProto, at: int) -> Array | str | None:
    """Return a constant input as float64, or None where it is not given; a text if it varies."""
    if len(node.input) <= at or not node.input[at]:
        return None
    value = view.constant(node.input[at])
    return "it varies" if value is None else value.astype(np.float64)


def _largest(view: GraphView, node: NodeProto, axis: int) -> float | None:
    """Return the largest sum of magnitudes of constant weights of one result."""
    weights = view.constant(node.input[1])
    return None if weights is None else float(np.abs(weights.astype(np.float64)).sum(axis=axis).max())


_READERS: dict[str, Callable[[GraphView, NodeProto], FloatSum | None]] = {
    "AveragePool": _average_pool,
    "Conv": _conv,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_average_pool,
    "MatMul": _matmul,
}
