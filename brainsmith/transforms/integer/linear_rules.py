"""LinearRules: sums of two tensors, and products of matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.well_formed import node_text
from brainsmith.transforms.graph_view import attribute, is_standard
from brainsmith.transforms.integer.constant_weights import integer_weights
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.layer_rules import LayerRules
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.scaled_sum import ScaledSum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layouts import Layouts, Value
    from brainsmith.transforms.integer.row_layers import RowLayers
    from brainsmith.transforms.integer.sums_of_scales import SumsOfScales
    from brainsmith.transforms.integer.window_rules import WindowRules


class LinearRules(LayerRules):
    """Finds what such an operator gives.

    Args:
        view: The network.
        build: Where layers are added.
        layouts: Moves tensors.
        sums: Sums of several scales.
        rows: Products of two computed matrices.
        windows: Adds biases.
    """

    def __init__(
        self,
        view: GraphView,
        build: LayerBuilder,
        layouts: Layouts,
        sums: SumsOfScales,
        rows: RowLayers,
        windows: WindowRules,
    ) -> None:
        super().__init__(view, build, layouts)
        self._sums = sums
        self._rows = rows
        self._windows = windows

    def has(self, node: NodeProto) -> bool:
        """Tell whether it knows an operator."""
        return is_standard(node, *_RULES)

    def result(self, node: NodeProto, inputs: Mapping[str, Any], base: str) -> Value:
        """Return what an operator gives.

        Args:
            node: A node.
            inputs: Those that are not constant.
            base: What layers are named after.

        Raises:
            NoLayerError: It has no layer of integers.
        """
        return _RULES[node.op_type](self, node, inputs, base)

    def _first(self, node: NodeProto, inputs: Mapping[str, Any]) -> Any:
        return self._sums.of_one_scale(next(iter(inputs.values())), node_text(node))

    def _matmul(self, node: NodeProto, inputs: Mapping[str, Any], base: str) -> Value:
        if all(name in inputs for name in node.input):
            left, right = (self._sums.of_one_scale(inputs[name], node_text(node)) for name in node.input)
            return self._rows.product(left, right, self._view.shape(node.output[0]), base)
        value = self._first(node, inputs)
        weights = integer_weights(self._view, node.input[1], axis=-1)
        if self._view.constant(node.input[0]) is not None or weights is None:
            raise NoLayerError(
                "its second factor is not constant" if weights is None else "its first factor is constant",
                "multiply computed values, as the first factor, by constant weights",
            )
        if weights.values.ndim != 2:
            raise NoLayerError("its weights do not have two axes", "use weights with two axes")
        rows = self._layouts.rows(value, base)
        found = self._product(node, rows, weights.values, weights.scale, base)
        return self._layouts.reshaped(found, (*value.shape[:-1], weights.values.shape[1]), base)

    def _gemm(self, node: NodeProto, inputs: Mapping[str, Any], base: str) -> Value:
        value = self._first(node, inputs)
        flipped = bool(attribute(node, "transB", 0))
        weights = integer_weights(self._view, node.input[1], axis=0 if flipped else -1)
        if weights is None or self._view.constant(node.input[0]) is not None:
            raise NoLayerError(
                "its second factor is not constant" if weights is None else "its first factor is constant",
                "multiply computed values, as the first factor, by constant weights",
            )
        plain = attribute(node, "alpha", 1.0) == attribute(node, "beta", 1.0) == 1
        if not plain or attribute(node, "transA", 0):
            raise NoLayerError(
                "it has factors, or a transposed input",
                "write them as Mul, Add and Transpose, as `cleanup` does",
            )
        values = weights.values.T if flipped else weights.values
        found = self._product(node, self._layouts.rows(value, base), values, weights.scale, base)
        return self._windows.biased(node, found)

    def _product(
        self, node: NodeProto, tensor: IntegerTensor, values: Any, scale: Any, base: str
    ) -> IntegerTensor | ScaledSum:
        shape = (*tensor.shape[:-1], values.shape[1])
        return self._products.of_rows(tensor, values, scale, shape, base)

    def _sum(self, node: NodeProto, inputs: Mapping[str, Any], base: str) -> Value:
        """Add two tensors; what the first one is a sum of is added one by one."""
        given: list[Any] = [inputs.get(name) for name in node.input[:2]]
        if None not in given:
            given = self._broadcasts.alike(given, base)
        moved = [value for value in given if isinstance(value, MovedTensor)]
        if len(moved) == 2 and moved[0].layout == moved[1].layout:
            found = self._total(node, [value.base for value in moved], base)
            return replace(moved[0], base=found)
        if any(value.is_one_dimensional_image for value in moved):
            images = [self._layouts.image(value, base) for value in given]
            return self._layouts.reshaped(self._total(node, images, base), given[0].shape, base)
        if moved:
            given = [
                self._layouts.settled(value, base, in_order=True) if isinstance(value, MovedTensor) else value
                for value in given
            ]
        return self._total(node, given, base)

    def _total(self, node: NodeProto, given: list[Any], base: str) -> IntegerTensor | ScaledSum:
        if node.op_type == "Add" and isinstance(given[1], ScaledSum):
            given.reverse()
        terms: list[IntegerTensor] = []
        for at, value in enumerate(given):
            if isinstance(value, ScaledSum) and at == 0 and value.added and not value.chain.links:
                terms += value.terms()
            elif isinstance(value, IntegerTensor | ScaledSum):
                terms.append(self._sums.of_one_scale(value, node_text(node)))
            else:
                raise NoLayerError(
                    "one of its terms is a constant, but neither one number nor one for each channel",
                    "add one number, or one for each channel",
                )
        if any(not _same_order(each, terms[0]) for each in terms):
            raise NoLayerError(
                "one of its terms is a flattened image", "add the images before they are flattened"
            )
        if node.op_type == "Sub":
            taken = self._build.terms(terms.pop(), base)
            terms += [replace(each, scale=-each.scale, offset=-each.offset) for each in taken]
        return self._build.sum(terms, base)


def _same_order(left: IntegerTensor, right: IntegerTensor) -> bool:
    if left.order is None or right.order is None:
        return left.order is right.order
    return bool(np.array_equal(left.order, right.order))


_RULES: dict[str, Callable[[LinearRules, NodeProto, Mapping[str, Any], str], Value]] = {
    "Add": LinearRules._sum,
    "Gemm": LinearRules._gemm,
    "MatMul": LinearRules._matmul,
    "Sub": LinearRules._sum,
}
"""What makes layers of which operator."""
