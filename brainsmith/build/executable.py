"""Whether what a step made can be executed by itself: what of it lies elsewhere, or is defined nowhere in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError, MissingOpError
from brainsmith.steps.host_ends import PARTITION

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

_ONNX = ("", "ai.onnx", "ai.onnx.ml")


def never_ran(error: BuildError, model: ModelWrapper) -> bool:
    """Tell whether what a step made is not broken, only not for Python: an operator or a partition's file is missing."""
    from qonnx.custom_op.registry import is_custom_op

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, (NotImplementedError, MissingOpError)):
        cause = cause.__cause__
    own = [node for node in model.graph.node if node.domain not in _ONNX]
    unknown = any(not is_custom_op(node.domain, node.op_type) for node in own)
    return cause is not None or unknown or any(_lacks_its_file(node) for node in own)


def _lacks_its_file(node: NodeProto) -> bool:
    files = [entry.s.decode() for entry in node.attribute if entry.name == "model"]
    return node.op_type == PARTITION and not all(Path(file).is_file() for file in files)
