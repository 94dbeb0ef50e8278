"""Inputs of ONNX's integers that the network casts to floats at once, such as the pixels of an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto

from brainsmith.graph.ends import input_values
from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

DATATYPES = {
    TensorProto.INT8: "INT8",
    TensorProto.INT16: "INT16",
    TensorProto.UINT8: "UINT8",
    TensorProto.UINT16: "UINT16",
}
"""What a float32 holds, by the type of ONNX's integers."""


def cast_inputs(model: ModelWrapper) -> dict[str, str]:
    """Return the datatypes of such inputs by name: what the model annotates, else that of ONNX's type."""
    ends = {value.name for value in model.graph.output}
    found = {}
    for value in input_values(model.graph):
        datatype = DATATYPES.get(value.type.tensor_type.elem_type)
        readers = [node for node in model.graph.node if value.name in node.input]
        if datatype is None or not readers or value.name in ends or not all(map(_to_floats, readers)):
            continue
        stated = model.get_tensor_datatype(value.name)
        found[value.name] = stated.name if stated.is_integer() else datatype
    return found


def cast_inputs_to_floats(model: ModelWrapper) -> None:
    """Let such inputs be floats of the same integers, as QONNX annotates them, and take the Casts out."""
    from qonnx.core.datatype import DataType

    found = cast_inputs(model)
    for value in model.graph.input:
        if value.name in found:
            model.set_tensor_datatype(value.name, DataType[found[value.name]])
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    for node in model.graph.node:
        if _to_floats(node) and node.input[0] in found:
            node.op_type = "Identity"
            del node.attribute[:]


def _to_floats(node: NodeProto) -> bool:
    return is_standard(node, "Cast") and attribute(node, "to") == TensorProto.FLOAT
