"""Kernels that compute with integers where a float tensor is made of them, by one scale and one offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType

from brainsmith.transforms.absorb_affine import absorb_affine
from brainsmith.transforms.graph_view import GraphView, kernel_node
from brainsmith.transforms.lattice.links import link_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        link = link_of(view, node) if node is not None else None
        if link is None or link.factor is None or link.channels > 1:
            return None
        name = link.source
        scale *= float(link.factor[0])
    return IntegerSource(name, scale) if scale > 0 else None


class KernelIntegers(NamedTuple):
    """With what integers a kernel computes.

    Attributes:
        source: Those that it takes.
        given: The datatype of those that it gives.
        fraction_bits: How many bits of these stand after the point.
    """

    source: IntegerSource
    given: BaseDataType
    fraction_bits: int


def put_row_kernel(
    view: GraphView,
    node: NodeProto,
    op_type: str,
    ends: tuple[str, str],
    integers: KernelIntegers | None,
    attributes: dict[str, Any],
    behind: Sequence[NodeProto] = (),
) -> None:
    """Put a kernel that treats each row of the last axis in place of a node.

    One of integers gets a Mul by 2^-fraction_bits after it, which the MultiThresholds that it ends in absorb.

    Args:
        view: The graph.
        node: What is replaced; its name becomes the kernel's.
        op_type: Of the kernel.
        ends: The float tensors that the kernel reads and gives.
        integers: Those in their place; None for a kernel of floats.
        attributes: Of the kernel, beside those that follow from its ends.
        behind: Nodes that take the place too, after the kernel.
    """
    source, output = ends
    unread = [*node.input, *node.output[1:]]
    if integers is None:
        view.model.set_tensor_datatype(output, DataType["FLOAT32"])
        view.replace(
            node, [_row_kernel(view, op_type, source, output, node.name, attributes), *behind], unread
        )
        return
    name = view.new_name(f"{node.name or output}_integers")
    view.declare_like(name, output, TensorProto.FLOAT)
    view.model.set_tensor_datatype(name, integers.given)
    factor = view.add_constant(f"{name}_scale", np.asarray([2.0**-integers.fraction_bits], np.float32))
    stated = {"outputDataType": integers.given.name, "fraction_bits": integers.fraction_bits}
    kernel = _row_kernel(view, op_type, integers.source.name, name, node.name, attributes | stated)
    scaled = helper.make_node("Mul", [name, factor], [output], name=f"{name}_Mul")
    view.replace(node, [kernel, scaled, *behind], unread)
    absorb_affine(view, name)


def _row_kernel(
    view: GraphView, op_type: str, source: str, output: str, name: str, attributes: dict[str, Any]
) -> NodeProto:
    shape = view.static_shape(source, TensorProto.FLOAT) or []
    return kernel_node(
        op_type, [source], [output], name=name, ifm_dim=shape, NumChannels=shape[-1], SIMD=1, **attributes
    )
