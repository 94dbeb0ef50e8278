"""The signature of a model, read from its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.graph.ends import input_values, numpy_type

if TYPE_CHECKING:
    from onnx import ValueInfoProto
    from qonnx.core.modelwrapper import ModelWrapper


def signature_of(model: ModelWrapper, dtype: str = "") -> ModelSignature:
    """Return the inputs of a model that are no constants, and its outputs.

    Args:
        model: Its shapes are known.
        dtype: The NumPy type in which all are passed; empty for those that the graph states.
    """

    def spec(value: ValueInfoProto) -> TensorSpec:
        shape = tuple(model.get_tensor_shape(value.name) or ())
        datatype = model.get_tensor_datatype(value.name).name
        return TensorSpec(value.name, shape, dtype or numpy_type(value), datatype)

    return ModelSignature(tuple(map(spec, input_values(model.graph))), tuple(map(spec, model.graph.output)))
