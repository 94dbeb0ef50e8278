"""A model as users give it: a path, bytes, or an object."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.graph.declarations import declare_once
from brainsmith.graph.sound import require_sound
from brainsmith.store.files import is_endless

if TYPE_CHECKING:
    from onnx import ModelProto
    from qonnx.core.modelwrapper import ModelWrapper


def read_model(resource: Any) -> ModelWrapper:
    """Return a model for QONNX.

    Args:
        resource: The path of an .onnx file, its bytes, an ONNX model, or a QONNX ModelWrapper.

    Raises:
        ModelError: It is something else, cannot be read, or holds Python that QONNX would run.
    """
    from onnx import ModelProto
    from qonnx.core.modelwrapper import ModelWrapper

    if isinstance(resource, ModelWrapper):
        require_sound(resource.model, "the model")
        return resource
    what = "the model"
    if isinstance(resource, ModelProto):
        model = resource
    elif isinstance(resource, str | os.PathLike):
        model, what = load_proto(Path(resource)), os.fspath(resource)
    elif isinstance(resource, bytes | bytearray | memoryview):
        model = _parsed(bytes(resource), what)
    else:
        raise ModelError(
            f"a model must be the path of an .onnx file, its bytes or a ModelWrapper, not a {type(resource).__name__}"
        )
    if not model.graph.node and model is not resource:
        raise ModelError(f"{what} has no nodes")
    require_sound(model, what)
    declare_once(model.graph)
    return ModelWrapper(model)


def load_proto(path: Path) -> ModelProto:
    """Read the protobuf message of a file, external weights included.

    Raises:
        ModelError: It is no ONNX model, or cannot be read; the message says what it is and what to do.
    """
    data = model_bytes(path)
    import onnx

    proto = _parsed(data, path)
    try:
        onnx.load_external_data_for_model(proto, str(path.parent))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ModelError(f"{path} keeps weights in another file that cannot be read: {error}") from error
    return proto


def model_bytes(path: Path) -> bytes:
    """Read the bytes of a model's file, which may yet be no model.

    Raises:
        ModelError: There is no such file, or it cannot be read or is empty; the message says what to do.
    """
    try:
        if is_endless(path):
            raise ModelError(
                f"{path} is a pipe or a device, not an ONNX file. Save the model to a file, and name it."
            )
        data = path.read_bytes()
    except FileNotFoundError:
        raise ModelError(f"model {path} does not exist{_nearby(path)}") from None
    except IsADirectoryError:
        found = sorted(entry.name for entry in path.glob("*.onnx"))[:5]
        hint = f"It holds {', '.join(found)}." if found else "Name the .onnx file itself."
        raise ModelError(f"{path} is a folder, not an ONNX file. {hint}") from None
    except OSError as error:
        raise ModelError(f"model {path} cannot be read: {error.strerror}") from error
    if not data:
        raise ModelError(f"{path} is empty; an ONNX file was expected")
    return data


def _nearby(path: Path) -> str:
    parent = path.parent if path.parent.is_dir() else None
    if parent is None:
        return f": there is no folder {path.parent}"
    found = sorted(entry.name for entry in parent.glob("*.onnx"))[:5]
    place = "the current folder" if str(parent) == "." else parent
    return f"; {place} has {', '.join(found)}" if found else ""


def _parsed(data: bytes, what: object) -> ModelProto:
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_from_string(data)
    except DecodeError:
        raise ModelError(f"{what} is not an ONNX file: it holds no ONNX model that can be read") from None
    if not model.ir_version or not model.opset_import or not model.HasField("graph"):
        raise ModelError(f"{what} is not an ONNX file: it has no IR version, operator set or graph")
    return model
