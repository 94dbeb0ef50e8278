"""MeansToSums: convert means over tokens or pixels into sums, and move scales after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, opset, value_of_one
from brainsmith.transforms.reduced_axes import AXES_AS_INPUT, reduced_axes

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


@transform(
    stage="topology_opt",
    description="Convert ReduceMean into ReduceSum and a factor, and move factors before a ReduceSum to after it",
    tags=("streamlining", "transformer"),
)
class MeansToSums(Transformation):
    """Turn `ReduceMean(x)` into `ReduceSum(x) / n`, and `ReduceSum(c x)` into `c ReduceSum(x)` for one number c.

    Integers then reach the sum, which a GlobalAccPool computes (InferGlobalSum), and the factors join those of the
    matrix product that follows. Exact where n and c are powers of two.

    Left alone: axes that are not constant or not stated, unknown shapes, factors that other nodes read too, and
    models of an opset below 13.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Convert every such mean and move every such factor; the flag is True exactly when there was one."""
        if opset(model) < AXES_AS_INPUT["ReduceSum"]:
            return model, False
        view = GraphView(model)
        names = [node.output[0] for node in model.graph.node if node.output]
        means = [_to_sum(view, node) for name in names if (node := view.producer(name, "ReduceMean"))]
        moved = 0
        while any(_move(view, node) for node in list(model.graph.node) if node.op_type == "ReduceSum"):
            moved += 1
        return model, any(means) or moved > 0


def _to_sum(view: GraphView, node: NodeProto) -> bool:
    axes = reduced_axes(view, node)
    shape = view.static_shape(node.input[0], TensorProto.FLOAT)
    if axes is None or shape is None:
        return False
    stem, result = node.name or node.output[0], node.output[0]
    total = view.new_name(f"{stem}_sum")
    view.declare_like(total, result, TensorProto.FLOAT)
    along = view.add_constant(f"{stem}_axes", np.asarray(axes, np.int64))
    count = int(np.prod([shape[axis] for axis in axes]))
    factor = view.add_constant(f"{stem}_factor", np.asarray(1 / count, np.float32))
    keep = attribute(node, "keepdims", 1)
    summed = helper.make_node("ReduceSum", [node.input[0], along], [total], name=stem, keepdims=keep)
    scaled = helper.make_node("Mul", [total, factor], [result], name=f"{stem}_scale")
    view.replace(node, [summed, scaled], node.input[1:])
    return True


def _move(view: GraphView, node: NodeProto) -> bool:
    """Move the factor before a sum to after it, if there is one."""
    product = view.producer(node.input[0], "Mul")
    if product is None or view.readers(product.output[0]) != 1 or reduced_axes(view, node) is None:
        return False
    factors = [name for name in product.input if value_of_one(view.constant(name)) is not None]
    varying = [name for name in product.input if name not in factors]
    if len(factors) != 1 or len(varying) != 1:
        return False
    shapes = [view.static_shape(name, TensorProto.FLOAT) for name in (varying[0], product.output[0])]
    if shapes[0] is None or shapes[0] != shapes[1]:
        return False
    result = node.output[0]
    total = view.new_name(f"{node.name or result}_unscaled")
    view.declare_like(total, result, TensorProto.FLOAT)
    factor = view.add_constant(
        f"{node.name or result}_factor", np.asarray(view.constant(factors[0])).reshape(())
    )
    stated = {found.name: helper.get_attribute_value(found) for found in node.attribute}
    summed = helper.make_node("ReduceSum", [varying[0], *node.input[1:]], [total], name=node.name, **stated)
    scaled = helper.make_node("Mul", [total, factor], [result], name=product.name)
    view.replace(node, [summed, scaled], product.output[:1])
    return True
