"""FoldConstantQuantisers: quantised constants that FINN's FoldQuantWeights refuses, or would fold wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute
from brainsmith.transforms.lattice.quantised_values import value_of_quantised
from brainsmith.transforms.lattice.staircases import is_quantiser

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

_PRODUCTS = ("MatMul", "Conv")

_ONE_SCALE = ("Add", "ConvTranspose", "Gather", "Mul", "Sub")


@transform(
    stage="topology_opt",
    description="Fold quantised constants that are not integer weights with one scale for each result",
    tags=("quantisation",),
)
class FoldConstantQuantisers(Transformation):
    """Leave quantised constants in the forms of which FINN's FoldQuantWeights makes integers and a Mul after them.

    That is one consumer, a zero point of 0, and a scale that can stand after the consumer: one number, or one for
    each column of a MatMul or each filter of a Conv. A whole zero point goes into the integers. Products that share
    quantised weights get a quantiser each. All other quantisers of constants become the numbers that QONNX computes.

    Raises:
        ModelError: A scale is 0 or not finite.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Fold all of them in one pass; the flag is always False."""
        view = _with_one_reader_each(GraphView(model))
        for node in [node for node in model.graph.node if is_quantiser(node)]:
            given = [view.constant(name) for name in node.input]
            if any(value is None for value in given):
                continue
            scale = np.asarray(given[1], np.float32)
            if not np.isfinite(scale).all() or not scale.all():
                raise ModelError(
                    f"{node.op_type} '{node.name or node.output[0]}' quantises a constant with a scale that is 0 or not "
                    "finite"
                )
            if node.op_type == "IntQuant":
                node.op_type = "Quant"
            if not self._stays(view, node, scale):
                _fold(view, node, value_of_quantised(view, node))
            elif node.op_type == "Quant" and np.any(given[2]):
                _without_zero_point(view, node, scale)
        return model, False

    def _stays(self, view: GraphView, node: NodeProto, scale: Any) -> bool:
        readers = view.nodes_reading(node.output[0])
        if len(readers) != 1 or view.readers(node.output[0]) != 1:
            return False
        zero = np.asarray(0 if node.op_type == "BipolarQuant" else view.constant(node.input[2]))
        if zero.size != 1 or zero != np.rint(zero):
            return False
        return _passes(readers[0], list(readers[0].input).index(node.output[0]), scale)


def _with_one_reader_each(view: GraphView) -> GraphView:
    """Give each product that shares quantised weights a quantiser of its own, and return the graph's new index."""
    for node in [node for node in view.graph.node if is_quantiser(node)]:
        if any(view.constant(name) is None for name in node.input):
            continue
        name = node.output[0]
        readers = view.nodes_reading(name)
        if len(readers) != view.readers(name) or any(other.op_type not in _PRODUCTS for other in readers):
            continue
        for reader in readers[1:]:
            copy = type(node)()
            copy.CopyFrom(node)
            copy.output[0] = view.new_name(name)
            copy.name = f"{node.name}_{copy.output[0]}" if node.name else ""
            view.graph.node.insert(list(view.graph.node).index(node), copy)
            reader.input[list(reader.input).index(name)] = copy.output[0]
            shape = view.model.get_tensor_shape(name)
            if shape is not None:
                view.model.set_tensor_shape(copy.output[0], shape)
            view.model.set_tensor_datatype(copy.output[0], view.model.get_tensor_datatype(name))
    return GraphView(view.model)


def _passes(reader: NodeProto, place: int, scale: Any) -> bool:
    """Tell whether a factor of one input of a node is one of its result."""
    if reader.op_type == "MatMul":
        return bool(scale.size == 1 or (place == 1 and scale.size == scale.shape[-1]))
    if reader.op_type == "Conv":
        return place == 1 and bool(scale.size == 1 or (scale.ndim > 2 and scale.size == scale.shape[0]))
    return bool(scale.size == 1 and reader.op_type in _ONE_SCALE)


def _fold(view: GraphView, node: NodeProto, values: Any) -> None:
    name = view.add_constant(f"{node.output[0]}_value", values)
    for reader in view.graph.node:
        for place, read in enumerate(reader.input):
            if read == node.output[0]:
                reader.input[place] = name
    view.graph.node.remove(node)


def _without_zero_point(view: GraphView, node: NodeProto, scale: Any) -> None:
    """Give a quantiser the integers without their zero point to quantise; it has as many bits as they need."""
    from brainsmith.rtl.cores.integers import integer_bits

    numbers = np.rint(value_of_quantised(view, node) / scale)
    low, high = int(numbers.min()), int(numbers.max())
    signed = low < 0 or bool(attribute(node, "signed", 1))
    bits = max(integer_bits(min(low, -1) if signed else low, high), 2)
    constants = (numbers * scale, np.zeros((), np.float32), np.asarray(bits, np.float32))
    for place, (what, value) in zip(
        (0, 2, 3), zip(("integers", "zero", "bits"), constants, strict=True), strict=True
    ):
        node.input[place] = view.add_constant(f"{node.output[0]}_{what}", np.asarray(value, np.float32))
    for entry in node.attribute:
        if entry.name in ("signed", "narrow"):
            entry.i = int(signed) if entry.name == "signed" else 0
