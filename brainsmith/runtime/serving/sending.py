"""A model as it is sent: one piece, which means the same on another machine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.runtime.file_facts import facts_of, partition_files

if TYPE_CHECKING:
    from onnx import ModelProto

_PATHS = r"code_gen_dir_\w+|ipgen_path|ip_path|executable_path|rtlsim_so|rtlsim_trace"
"""Attributes in which FINN's layers note the files that were generated of them."""


def model_bytes(resource: Any) -> bytes:
    """Return a model's bytes, with its weights in it wherever they lie, and without the paths of generated files.

    Nothing that a model computes depends on such a path; bytes without any are returned as they are.

    Args:
        resource: The path of an .onnx file, its bytes, or a QONNX ModelWrapper.

    Raises:
        ModelError: It is to be changed, and is no ONNX model.
    """
    data = _as_given(resource)
    if b"location" not in data and not re.search(_PATHS.encode(), data):
        return data
    from brainsmith.execution.read_model import read_model

    is_file = isinstance(resource, str | os.PathLike)  # weights beside it are found from there
    return _without_paths(read_model(resource if is_file else data).model)


def why_not_whole(resource: Any) -> str:
    """Return why a model cannot be sent in one piece, or nothing if it can.

    Args:
        resource: The path of an .onnx file, its bytes, or a QONNX ModelWrapper.
    """
    if isinstance(resource, str | os.PathLike):
        named = facts_of(Path(resource), is_model=True).partitions
    else:
        named = partition_files(_as_given(resource))
    if not named:
        return ""
    return (
        f"its dataflow partitions are models in files of this machine ({', '.join(dict.fromkeys(named))}), which are not "
        "sent with it: execute it on a target of this machine"
    )


def _as_given(resource: Any) -> bytes:
    if isinstance(resource, bytes | bytearray):
        return bytes(resource)
    if isinstance(resource, str | os.PathLike):
        return Path(resource).read_bytes()
    return bytes(getattr(resource, "model", resource).SerializeToString(deterministic=True))


def _without_paths(model: ModelProto) -> bytes:
    for node in model.graph.node:
        kept = [one for one in node.attribute if not (node.domain and re.fullmatch(_PATHS, one.name))]
        if len(kept) < len(node.attribute):
            del node.attribute[:]
            node.attribute.extend(kept)
    return bytes(model.SerializeToString(deterministic=True))
