"""Sums beyond 2^24 in hardware layers: their Python models compute them in float64, as their circuits do exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.transforms.graph_view import attribute, is_standard

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def without_wide_casts(model: ModelWrapper) -> ModelWrapper:
    """Take out, in place, the Casts around products in float64, which the step `integer` writes.

    Operators of ONNX need operands of one type; layers do not, so that their inputs and levels stay float32 tensors.
    """
    graph = model.graph
    for node in [each for each in graph.node if _casts(model, each)]:
        source, result = node.input[0], node.output[0]
        maker = model.find_producer(source)
        if maker is not None and maker.op_type == "MultiThreshold":
            maker.output[0] = result
        else:
            for reader in graph.node:
                reader.input[:] = [source if name == result else name for name in reader.input]
        graph.node.remove(node)
        for value in [each for each in graph.value_info if each.name in (source, result)]:
            if not model.find_producer(value.name) and not model.find_consumers(value.name):
                graph.value_info.remove(value)
    return model


def widen_layers(model: ModelWrapper) -> ModelWrapper:
    """Give, in place, each MVAU whose sums float32 does not hold its weights in float64, if thresholds alone read these.

    So its Python model is exact. What it gives is declared as float64, and so are the thresholds.
    """
    import numpy as np
    from onnx import TensorProto

    for node in model.graph.node:
        if node.op_type != "MVAU" or not attribute(node, "noActivation", 0):
            continue
        kind, readers = model.get_tensor_datatype(node.output[0]), model.find_consumers(node.output[0]) or []
        compared = bool(readers) and all(each.op_type == "Thresholding" for each in readers)
        if not compared or max(-kind.min(), kind.max()) <= FLOAT32_END:
            continue
        for name in (node.input[1], *(each.input[1] for each in readers)):
            constant: Any = model.get_initializer(name)
            if constant is not None:
                model.set_initializer(name, constant.astype(np.float64))
        value: Any = model.get_tensor_valueinfo(node.output[0])
        if value is not None:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    return model


def _casts(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a node is one of the Casts around a product in float64 that thresholds read."""
    from onnx import TensorProto

    if not is_standard(node, "Cast"):
        return False
    if attribute(node, "to") == TensorProto.DOUBLE:
        return all(each.op_type == "MatMul" for each in model.find_consumers(node.output[0]) or [])
    maker = model.find_producer(node.input[0])
    return maker is not None and maker.op_type == "MultiThreshold" and _is_double(model, node.input[0])


def _is_double(model: ModelWrapper, name: str) -> bool:
    from onnx import TensorProto

    value: Any = model.get_tensor_valueinfo(name)
    return value is not None and value.type.tensor_type.elem_type == TensorProto.DOUBLE
