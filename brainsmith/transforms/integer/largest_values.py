"""The places of the largest values: a layer compares integers, where that is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.transforms.graph_view import attribute
from brainsmith.transforms.integer.no_layer import NoLayerError
from brainsmith.transforms.integer.xnor_products import with_negatives

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.integer.layer_builder import LayerBuilder
    from brainsmith.transforms.integer.layouts import Layouts, Value


def largest_values(
    view: GraphView, build: LayerBuilder, layouts: Layouts, node: NodeProto, value: Value, base: str
) -> list[IntegerTensor]:
    """Return the values and places of a TopK, or the place of an ArgMax, which is that of a TopK of one.

    The largest integers are the largest values, where one scale and one offset are all's. Of equal values the one at the
    lower place comes first, in ONNX and in the layer.

    Raises:
        NoLayerError: It finds the smallest values, or in any order, or not in rows; or scales differ.
    """
    tensor = layouts.settled(value, base, in_order=True)
    plain = tensor.affine()
    if plain is not None and view.readers(node.input[0]) == 1:
        plain = with_negatives(build.graph, plain)
    single = node.op_type == "ArgMax"
    if single and attribute(node, "select_last_index", 0):
        raise NoLayerError(
            "of equal values it selects the last, and a layer selects the first", "set select_last_index to 0"
        )
    count = np.ones(1, np.int64) if single else view.constant(node.input[1])
    of_rows = (
        attribute(node, "axis", 0 if single else -1) % len(tensor.shape) == len(tensor.shape) - 1
        and not tensor.is_image
    )
    if (
        plain is None
        or plain.scale.size > 1
        or plain.offset.size > 1
        or plain.scale[0] <= 0
        or plain.order is not None
    ):
        raise NoLayerError(
            "it compares values whose scales or offsets are those of each channel",
            "quantise them with one scale before it",
        )
    if count is None or count.size != 1 or not of_rows or not attribute(node, "largest", 1):
        raise NoLayerError(
            "only the largest values of a row have a layer, as many as a constant says",
            "make k a constant, largest 1, and axis the last one",
        )
    wanted = int(count.reshape(-1)[0])
    if wanted > 1 and not attribute(node, "sorted", 1):
        raise NoLayerError(
            "it returns several indices in any order (sorted is 0), and a layer returns them sorted",
            "set sorted to 1",
        )
    if not single and node.output[0] and view.readers(node.output[0]):
        raise NoLayerError("its values are used", "use only the indices that it returns")
    shapes = 2 * [(*tensor.shape[:-1], 1)] if single else [view.shape(name) for name in node.output]
    values, places = build.largest(plain, wanted, shapes, base)
    if not single:
        return [values, places]
    shape = tuple(view.shape(node.output[0]))  # without the axis, where `keepdims` is 0
    if places.shape == shape:
        return [places]
    return [replace(places, name=build.graph.reshape(places.name, shape, None, base), shape=shape)]
