"""Which node of a model computes a tensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brainsmith.execution.read_model import read_model
from brainsmith.runtime.model_resources import is_folder


def producers(resource: Any) -> dict[str, str]:
    """Return the node that computes each tensor, such as `MatMul 'fc1'`.

    Args:
        resource: A model, or the folder of a build, whose hardware model is meant then.

    Raises:
        ModelError: It cannot be read.
    """
    if is_folder(resource):
        file = Path(resource) / "model.onnx"
        if not file.is_file():
            return {}
        resource = file
    graph = read_model(resource).graph
    return {name: f"{node.op_type} '{node.name or name}'" for node in graph.node for name in node.output}
