"""RowRules: sums over rows, rows of tables, and products of two branches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from onnx import helper

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.transforms.graph_view import attribute, is_standard
from brainsmith.transforms.integer.constant_weights import integer_weights
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.layer_graph import LayerNode, LayerTensor
from brainsmith.transforms.integer.layer_rules import LayerRules
from brainsmith.transforms.integer.moved_tensor import MovedTensor
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.padding import without_offset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto

    from brainsmith.transforms.integer.layouts import Value


class RowRules(LayerRules):
    """Finds what such an operator gives."""

    def has(self, node: NodeProto, inputs: dict[str, Value]) -> bool:
        """Tell whether it knows an operator with these inputs that are not constant."""
        if not is_standard(node, *_RULES):
            return False
        if node.op_type == "Gather":
            return node.input[0] not in inputs
        return node.op_type not in _OF_TWO or (
            len(node.input) == 2 and all(name in inputs for name in node.input)
        )

    def result(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        """Return what an operator gives.

        Raises:
            NoLayerError: No layer does it.
        """
        return _RULES[node.op_type](self, node, inputs, base)

    def _multiplied(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        return self._combined(node, inputs, base, self._products_of_channels)

    def _extreme(self, node: NodeProto, inputs: dict[str, Value], base: str) -> Value:
        way = 1 if node.op_type == "Max" else -1
        return self._combined(node, inputs, base, lambda pair, name: self._images.greater(pair, way, name))

    def _combined(
        self,
        node: NodeProto,
        inputs: dict[str, Value],
        base: str,
        elements: Callable[[Sequence[IntegerTensor], str], IntegerTensor],
    ) -> Value:
        """Return two branches combined element by element, in one shape and layout."""
        left, right = self._broadcasts.alike([inputs[name] for name in node.input], base)
        if isinstance(left, MovedTensor) and isinstance(right, MovedTensor) and left.layout == right.layout:
            bases = [self._layouts.settled(each.base, base) for each in (left, right)]
            return replace(left, base=elements(bases, base))
        settled = [self._layouts.settled(each, base, in_order=True) for each in (left, right)]
        return elements(settled, base)

    def _products_of_channels(self, factors: Sequence[IntegerTensor], base: str) -> IntegerTensor:
        left, right = (self._whole(each, f"{base}_{at}") for at, each in enumerate(factors))
        if left.order is not None or right.order is not None:
            raise NoLayerError(
                "one of its factors is a flattened image", "multiply the images before they are flattened"
            )
        products = left.range.times(right.range)
        self._build.check_sums(products)
        known = self._build.graph.tensors.get(left.name)
        placed = left.shape if known is None else known.shape
        name = self._build.graph.add("Mul", [left.name, right.name], base, placed, products)
        return replace(left, name=name, range=products, scale=left.scale * right.scale)

    def _whole(self, tensor: IntegerTensor, base: str) -> IntegerTensor:
        """Return integers of which each value is its scale times one: -1 and 1 are those of bits, twice less 1."""
        tensor = self._build.integers(tensor, base)
        try:
            return without_offset(self._build, tensor, base)
        except NoLayerError:
            raise NoLayerError(
                "one of its factors is not a whole multiple of its scale",
                "quantise it with the zero point 0 before it",
            ) from None

    def _looked_up(self, node: NodeProto, inputs: dict[str, Value], base: str) -> IntegerTensor:
        (places,) = inputs.values()
        table = integer_weights(self._view, node.input[0], axis=-1)
        if (
            table is None
            or table.values.ndim != 2
            or attribute(node, "axis", 0) != 0
            or len(places.shape) > 2
        ):
            raise NoLayerError(
                "it does not gather rows of a constant table",
                "gather along axis 0 of a constant table with two axes",
            )
        ends = {value.name for value in self._view.graph.input}
        if not isinstance(places, IntegerTensor) or places.name not in ends or places.links:
            raise NoLayerError(
                "its indices are computed, and must be an input of the network",
                "make the indices an input of the network",
            )
        rows = len(table.values)
        first, last = places.range.ends
        if first < 0 or last >= rows:
            raise NoLayerError(
                f"its indices go from {first} to {last}, and its table has {rows} rows",
                "give the table as many rows, or the input a datatype that holds only valid indices",
            )
        graph = self._build.graph
        held = IntegerRange(table.values.min(axis=0), table.values.max(axis=0))
        shape, result = (*places.shape, table.values.shape[1]), graph.name(base)
        gather = helper.make_node("Gather", [places.name], [result], name=result, axis=0)
        name = graph.put(LayerNode(gather, table.values, constant_at=0), LayerTensor(shape, held))
        return IntegerTensor(name, shape, held, table.scale, np.zeros(1))


_OF_TWO = ("Max", "Min", "Mul")
"""Operators that have a rule where both operands are computed."""

_RULES: dict[str, Callable[[RowRules, NodeProto, dict[str, Value], str], Value]] = {
    "Gather": RowRules._looked_up,
    "Max": RowRules._extreme,
    "Min": RowRules._extreme,
    "Mul": RowRules._multiplied,
}
"""What finds the result of which operator."""
