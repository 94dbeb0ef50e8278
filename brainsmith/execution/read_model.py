"""A model as users give it: a path, bytes, or an object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.graph.declarations import declare_once
from brainsmith.graph.sound import require_sound
from brainsmith.store.files import is_endless

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def read_model(resource: Any) -> ModelWrapper:
    """Return a model for QONNX.

    Args:
        resource: The path of an .onnx file, its bytes, an ONNX model, or a QONNX ModelWrapper.

    Raises:
        ModelError: It is something else, cannot be read, or holds Python that QONNX would run.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from qonnx.core.modelwrapper import ModelWrapper

    if isinstance(resource, ModelWrapper):
        require_sound(resource.model, "the model")
        return resource
    if isinstance(resource, onnx.ModelProto):
        require_sound(resource, "the model")
        declare_once(resource.graph)
        return ModelWrapper(resource)
    what = os.fspath(resource) if isinstance(resource, str | os.PathLike) else "the model"
    try:
        if isinstance(resource, str | os.PathLike):
            if is_endless(resource):
                raise ModelError(f"{what}: is a pipe or a device, and a model is an .onnx file")
            model = onnx.load(resource)
        elif isinstance(resource, bytes | bytearray | memoryview):
            model = onnx.load_model_from_string(bytes(resource))
        else:
            raise ModelError(
                f"a model must be the path of an .onnx file, its bytes or a ModelWrapper, not a {type(resource).__name__}"
            )
    except FileNotFoundError as error:
        raise ModelError(f"{what}: there is no such file") from error
    except OSError as error:
        raise ModelError(f"{what}: cannot be read: {error.strerror or error}") from error
    except (DecodeError, onnx.checker.ValidationError) as error:
        raise ModelError(f"{what}: is not an ONNX model") from error
    if not model.graph.node:
        raise ModelError(f"{what}: is not an ONNX model, or has no nodes")
    require_sound(model, what)
    declare_once(model.graph)
    return ModelWrapper(model)
