"""Models as resources: the path of an .onnx file, its bytes, or a QONNX ModelWrapper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.graph.ends import input_values, numpy_type
from brainsmith.runtime.content import describe_resource

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def why_no_model(resource: Any) -> str:
    """Return why a resource cannot be a model, as far as that shows without reading it; nothing if it can."""
    if isinstance(resource, str | os.PathLike):
        path = Path(resource)
        if path.is_dir():
            return f"{path} is a folder, and a model is an .onnx file"
        if path.is_file():
            return ""
        is_there = path.exists()
        return (
            f"{path} is a pipe or a device, and a model is an .onnx file"
            if is_there
            else f"there is no file {path}"
        )
    if isinstance(resource, bytes | bytearray) or hasattr(
        getattr(resource, "model", resource), "SerializeToString"
    ):
        return ""
    return (
        "a model must be the path of an .onnx file, its bytes or a QONNX ModelWrapper, not "
        f"{describe_resource(resource)}"
    )


def signature_of(model: ModelWrapper) -> ModelSignature:
    """Return the inputs of a model that are no constants, and its outputs, with the types that the graph states."""
    return ModelSignature(
        tuple(_spec(model, value) for value in input_values(model.graph)),
        tuple(_spec(model, value) for value in model.graph.output),
    )


def _spec(model: ModelWrapper, value: Any) -> TensorSpec:
    shape = tuple(model.get_tensor_shape(value.name) or ())
    return TensorSpec(value.name, shape, numpy_type(value), model.get_tensor_datatype(value.name).name)
