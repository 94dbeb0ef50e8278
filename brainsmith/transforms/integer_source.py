"""What a float tensor is made of: integers, a scale and an offset that are the same for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from onnx import TensorProto, helper

from brainsmith.transforms.graph_view import GraphView, keeps_rank, value_of_one

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType


class IntegerSource(NamedTuple):
    """A tensor of integers; the tensor that was asked for is `scale * integers`, and perhaps a constant more.

    Attributes:
        name: Of the tensor of integers.
        scale: More than 0.
    """

    name: str
    scale: float


def find_integer_source(view: GraphView, name: str) -> IntegerSource | None:
    """Return the integers behind Mul, Div, Add and Sub by constants of one element, or None.

    What is added does not matter to who asks: layer normalisation and softmax do not change when all elements of a
    row grow by the same.
    """
    scale = 1.0
    while not view.model.get_tensor_datatype(name).is_integer():
        node = view.producer(name, "Mul", "Div", "Add", "Sub")
        step = _step(view, node) if node is not None else None
        if step is None:
            return None
        name, factor = step
        scale *= factor
    return IntegerSource(name, scale) if scale > 0 else None


def _step(view: GraphView, node: NodeProto) -> tuple[str, float] | None:
    """Return the tensor that a node scales or shifts, and by what it is multiplied."""
    for place in (1, 0) if node.op_type in ("Mul", "Add") else (1,):
        constant = view.constant(node.input[place])
        number, source = value_of_one(constant), str(node.input[1 - place])
        if constant is None or number is None or not keeps_rank(view, source, constant):
            continue
        if node.op_type in ("Add", "Sub"):
            return source, 1.0
        if number:
            return source, number if node.op_type == "Mul" else 1 / number
    return None


def declare_integers(view: GraphView, like: str, base: str, datatype: BaseDataType) -> str:
    """Declare a new tensor of integers with the shape of another, and return its name."""
    name = view.new_name(base)
    view.declare_like(name, like, TensorProto.FLOAT)
    view.model.set_tensor_datatype(name, datatype)
    return name


def scale_node(view: GraphView, source: str, output: str, fraction_bits: int) -> NodeProto:
    """Return the Mul that makes real numbers of integers with fraction bits."""
    factor = view.add_constant(f"{source}_scale", np.asarray([2.0**-fraction_bits], np.float32))
    return helper.make_node("Mul", [source, factor], [output], name=f"{source}_Mul")
