"""Models as resources: the path of an .onnx file, its bytes, or a QONNX ModelWrapper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from brainsmith.runtime.resource_content import describe_resource


def is_folder(resource: Any) -> bool:
    """Tell whether a resource is a folder that exists."""
    return isinstance(resource, str | os.PathLike) and Path(resource).is_dir()


def why_no_model(resource: Any) -> str:
    """Return why a resource cannot be a model, as far as that shows without reading it; nothing if it can."""
    if isinstance(resource, str | os.PathLike):
        path = Path(resource)
        if path.is_file():
            return ""
        what = "a folder" if path.is_dir() else "a pipe or a device"
        return (
            f"{path} is {what}, and a model is an .onnx file" if path.exists() else f"there is no file {path}"
        )
    if isinstance(resource, bytes | bytearray) or hasattr(
        getattr(resource, "model", resource), "SerializeToString"
    ):
        return ""
    return (
        "a model must be the path of an .onnx file, its bytes or a QONNX ModelWrapper, not "
        f"{describe_resource(resource)}"
    )
